// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// The ready program measures how long a Tenant takes to be Ready, against bare
// Helm on the same cluster. It is run inside the test bed:
//
//	bin/testbed exec -- bin/bench-ready
//
// It ends with status 1 when a median ratio of a Tenant's vCluster misses its bound,
// or when a Tenant claimed more than its API could do. What a whole CloudSpace takes
// besides, and how that splits over its stages, is shown and has no bound.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

type flags struct {
	Rounds   int    `short:"n" default:"5" help:"How many rounds to measure, 3 or more. Each gives one pair of each comparison [${default}]."`
	Provider string `env:"KUBEOPERA_PROVIDER" default:"bin/provider" placeholder:"FILE" help:"The provider's program [${default}]."`
}

// Validate is called by kong.
func (f flags) Validate() error {
	if f.Rounds < minRounds {
		return fmt.Errorf("--rounds %d is too few for a median; set it to %d or more", f.Rounds, minRounds)
	}

	return nil
}

func main() {
	rig.Main("bench-ready", "Measures how long a Tenant takes to be Ready, against bare Helm.", run)
}

func run(ctx context.Context, f flags) error {
	temp, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return fmt.Errorf("cannot make a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(temp) }()

	c, err := rig.Connect()
	if err != nil {
		return err
	}

	p, err := startProvider(ctx, c, f.Provider, temp)
	if err != nil {
		return err
	}
	defer func() { _ = p.Stop() }()

	b, err := newBench(c, p)
	if err != nil {
		return err
	}

	facts, err := c.Facts(f.Provider)
	if err != nil {
		return err
	}

	fmt.Println(facts)

	rounds, err := b.measure(ctx, f.Rounds)
	if err != nil {
		return err
	}

	r := summarize(rounds)
	fmt.Println(r.table())
	fmt.Println(b.stages.table())

	return r.verdict()
}

// startProvider makes the cluster ready for Tenants and runs the provider on it.
func startProvider(ctx context.Context, c *rig.Cluster, binary, folder string) (*rig.Provider, error) {
	root, err := rig.Root()
	if err != nil {
		return nil, err
	}

	if err := c.Install(ctx, root); err != nil {
		return nil, err
	}

	kubeconfig, err := c.ProviderKubeconfig(ctx)
	if err != nil {
		return nil, err
	}

	p, err := rig.NewProvider(binary, folder, kubeconfig, "ADVISOR_IMAGE="+rig.FakeAdvisorImage)
	if err != nil {
		return nil, err
	}

	return p, p.Start(ctx)
}
