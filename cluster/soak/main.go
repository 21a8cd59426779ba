// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// The soak program makes, changes, breaks and deletes Tenants for a long time while
// faults are injected, and checks that nothing is lost, claimed wrongly or leaked. It
// is run inside the test bed:
//
//	bin/testbed exec -- bin/soak --time 1h
//
// First the provider is killed again and again; then one process lives on to the
// end, so that what it leaks shows. The figures are printed, and written as JSON. It
// ends with status 1 when anything was wrong, and leaves the cluster as it was then.
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/figures"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// leastTime is enough for each part to do something.
const leastTime = 2 * time.Minute

// The provider's own account at the fake of kubeopera-api.
const (
	clientID     = "soak-provider"
	clientSecret = "soak-secret-of-nobody"
)

type flags struct {
	Time     time.Duration `default:"1h" help:"How long Tenants are made and faults injected, 2m or more. Cleaning up and measuring at rest come on top [${default}]."`
	Seed     uint64        `placeholder:"N" help:"What is done follows from this number; when it happens does not [a random one]."`
	Tenants  int           `default:"4" help:"How many Tenants live at a time. Each takes some 560 MB [${default}]."`
	Provider string        `env:"KUBEOPERA_PROVIDER" default:"bin/provider" placeholder:"FILE" help:"The provider's program [${default}]."`
	Output   string        `default:"bin/soak.json" placeholder:"FILE" help:"Where the figures are written [${default}]."`
}

// Validate is called by kong.
func (f flags) Validate() error {
	if f.Time < leastTime {
		return fmt.Errorf("--time %s is too short; set it to %s or more", f.Time, leastTime)
	}

	if f.Tenants < 1 {
		return fmt.Errorf("--tenants %d makes nothing; set it to 1 or more", f.Tenants)
	}

	return nil
}

func main() {
	rig.Main("soak", "Makes, changes, breaks and deletes Tenants while faults are injected.", run)
}

func run(ctx context.Context, f flags) (err error) {
	if f.Seed == 0 {
		f.Seed = rand.Uint64N(1_000_000) + 1 //nolint:gosec // It is no secret.
	}

	c, err := rig.Connect()
	if err != nil {
		return err
	}

	folder, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return fmt.Errorf("cannot make a folder: %w", err)
	}

	defer func() {
		if err == nil {
			err = os.RemoveAll(folder)
		} else {
			fmt.Printf("the provider's log is kept: %s\n", filepath.Join(folder, "provider.log"))
		}
	}()

	s, err := newSoak(ctx, c, f, folder)
	if err != nil {
		return err
	}

	ran, r := s.run(ctx), s.result()

	fmt.Println(r.table())

	return errors.Join(ran, figures.Write(f.Output, r), r.verdict(), s.close())
}

// newSoak makes the cluster ready for Tenants, and runs the provider and what it
// talks to.
func newSoak(ctx context.Context, c *rig.Cluster, f flags, folder string) (*soak, error) {
	facts, err := c.Facts(f.Provider)
	if err != nil {
		return nil, err
	}

	root, err := rig.Root()
	if err != nil {
		return nil, err
	}

	if err := c.Install(ctx, root); err != nil {
		return nil, err
	}

	s := &soak{cluster: c, flags: f, facts: facts, diary: newDiary(os.Stdout), host: newCalm(), kubeoperaCalm: newCalm(), lives: &lives{}}

	if err := s.startFakes(ctx); err != nil {
		return nil, err
	}

	return s, s.startProvider(ctx, folder)
}

func (s *soak) startFakes(ctx context.Context) (err error) {
	if s.proxy, err = rig.StartFaultProxy(ctx, s.cluster.Config); err != nil {
		return err
	}

	s.kubeopera, err = rig.StartFakeKubeoperaAPI(ctx, rig.FakeKubeoperaAPIOptions{
		Address: "127.0.0.1:0", ClientID: clientID, ClientSecret: clientSecret, TokenLife: 5 * time.Minute,
	})

	return err
}

// startProvider runs the provider with the fault proxy for its host API.
func (s *soak) startProvider(ctx context.Context, folder string) error {
	direct, err := s.cluster.ProviderKubeconfig(ctx)
	if err != nil {
		return err
	}

	kubeconfig, err := s.proxy.Kubeconfig(direct)
	if err != nil {
		return err
	}

	s.provider, err = rig.NewProvider(s.flags.Provider, folder, kubeconfig, "DEBUG=true", "ADVISOR_IMAGE="+rig.FakeAdvisorImage,
		"KUBEOPERA_API_BASE_URL="+s.kubeopera.URL(), "SERVICE_CLIENT_ID="+clientID, "SERVICE_CLIENT_SECRET="+clientSecret)
	if err != nil {
		return err
	}

	return s.provider.Start(ctx)
}

// close ends what was started. The cluster stays.
func (s *soak) close() error {
	return errors.Join(s.provider.Stop(), s.kubeopera.Down(), s.proxy.Down())
}
