// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// The scale program measures what many Tenants cost, on a real API server with
// controllers, the real Helm path and the real vCluster chart. Nodes, pods and what runs
// in them are fakes. It needs the programs of the test bed and no cluster:
//
//	make bench
//
// It prints a table in Markdown, and writes the same as JSON. What misses its target is
// marked and is no failure: it ends with status 1 only when something did not work.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/figures"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

type flags struct {
	Steps       []int         `default:"1,10,100,1000" help:"How many Tenants to measure at, in this order [${default}]."`
	Rest        time.Duration `default:"4m12s" help:"How long Ready Tenants are left alone to measure what they cost [${default}]."`
	Samples     int           `default:"5" help:"How many new Tenants to measure, one after the other, at each step [${default}]."`
	ForeignCRDs int           `name:"foreign-crds" default:"300" help:"How many CRDs of others to install before the heap is measured over many reconciles, 0 to leave that out [${default}]."`
	Bare        bool          `default:"true" negatable:"" help:"Compare with bare Helm, which takes about as long as the rest."`
	Set         []string      `placeholder:"NAME=VALUE" help:"Settings of the provider, by their environment variables."`
	Programs    string        `default:"bin/bench-programs" placeholder:"FOLDER" help:"Folder of kube-apiserver, etcd, kube-controller-manager and kwok, ${default} by default. Make builds them there." type:"path"`
	Provider    string        `env:"KUBEOPERA_PROVIDER" default:"bin/provider" placeholder:"FILE" help:"The provider's program, ${default} by default."`
	Output      string        `default:"bin/bench.json" placeholder:"FILE" help:"Where the figures are written as JSON, ${default} by default."`
}

// Validate is called by kong.
func (f flags) Validate() error {
	switch {
	case len(f.Steps) == 0 || slices.Min(f.Steps) < 1 || slices.Max(f.Steps) > maxTenants:
		return fmt.Errorf("--steps %v cannot be measured; set it to numbers from 1 to %d", f.Steps, maxTenants)
	case f.Rest < twoPolls || f.Rest%twoPolls != 0:
		return fmt.Errorf("--rest %s is no even number of polls, of which every other one reads; set it to %s or a multiple", f.Rest, twoPolls)
	case slices.ContainsFunc(f.Set, func(s string) bool { return strings.HasPrefix(s, "POLL=") }):
		return fmt.Errorf("--set POLL=... falsifies what is measured at rest, which waits for polls of %s; leave it out", poll)
	case slices.ContainsFunc(f.Set, func(s string) bool { return !strings.Contains(s, "=") }):
		return fmt.Errorf("--set %q sets nothing; write NAME=VALUE", f.Set)
	case f.ForeignCRDs < 0:
		return fmt.Errorf("--foreign-crds %d cannot be installed; set it to 0 or more", f.ForeignCRDs)
	case f.Samples < 1:
		return fmt.Errorf("--samples %d measures nothing; set it to 1 or more", f.Samples)
	}

	return nil
}

func main() { rig.Main("bench", "Measures what many Tenants cost.", run) }

func run(ctx context.Context, f flags) (err error) {
	b, err := startBed(ctx, f)
	if err != nil {
		return err
	}

	// Logs are for what went wrong, which an interrupt is not.
	defer func() { err = errors.Join(err, b.close(err != nil && ctx.Err() == nil)) }()

	facts, err := b.host.Facts(f.Provider)
	if err != nil {
		return err
	}

	r := result{Command: strings.Join(os.Args, " "), Date: time.Now().UTC(), Facts: facts, Settings: f.Set}
	fmt.Println(r.head())

	// What was measured is kept, whatever becomes of the rest.
	defer func() {
		fmt.Println(r.table())
		err = errors.Join(err, figures.Write(f.Output, r))
	}()

	return b.measure(ctx, &r)
}
