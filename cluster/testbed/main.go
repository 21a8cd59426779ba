// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// The testbed program runs a real one-node Kubernetes cluster on one machine,
// in a network namespace of its own, from programs that it builds itself.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/cluster"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/gitserver"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/preflight"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/provision"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/registry"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/step"
)

type cli struct {
	Name  string `default:"kubeopera" env:"KUBEOPERA_TESTBED_NAME" help:"Name of the cluster, its node and its network namespace."`
	Cache string `default:"${cache}" env:"KUBEOPERA_TESTBED_CACHE" help:"Folder of built programs and images, shared by all clusters." type:"path"`
	State string `default:"/var/lib/kubeopera-testbed" env:"KUBEOPERA_TESTBED_STATE" help:"Folder below which each cluster has its own." type:"path"`

	Build      buildCmd      `cmd:"" help:"Build programs and images into the cache, and nothing else."`
	Up         upCmd         `cmd:"" help:"Bring the cluster up, building what is missing."`
	Crossplane crossplaneCmd `cmd:"" help:"Install Crossplane on the cluster, building what is missing, and wait until it is available."`
	Down       downCmd       `cmd:"" help:"Take the cluster down and remove all of it but its logs."`
	Status     statusCmd     `cmd:"" help:"Show whether the cluster is up and well. Exit status 1 if it is not."`
	Exec       execCmd       `cmd:"" help:"Run a command inside the cluster's network, with KUBECONFIG set and kubectl on PATH."`
	Logs       logsCmd       `cmd:"" help:"Show the log of a component, or the end of every log."`

	ServeRegistry    serveRegistryCmd    `cmd:"" hidden:""`
	ServeGit         serveGitCmd         `cmd:"" hidden:""`
	ProvisionVolumes provisionVolumesCmd `cmd:"" hidden:""`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "testbed: error:", err)
		os.Exit(1)
	}
}

func run() error {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = "/var/cache"
	}
	var c cli
	k := kong.Parse(&c, kong.Name("testbed"), kong.UsageOnError(),
		kong.Description("A real one-node Kubernetes cluster in a network namespace of its own."),
		kong.Vars{"cache": filepath.Join(cache, "kubeopera-testbed")})
	ctx, stop := signalContext()
	defer stop()
	k.BindTo(ctx, (*context.Context)(nil))
	return k.Run(&c)
}

// errInterrupted is why a run that was told to stop ends.
var errInterrupted = errors.New("interrupted")

// signalContext ends its context on the first signal. A second one ends the
// program at once.
func signalContext() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		s := <-signals
		signal.Stop(signals)
		cancel(fmt.Errorf("%w by signal %q", errInterrupted, s))
	}()
	return ctx, func() { cancel(nil) }
}

func (c *cli) cluster() (*cluster.Cluster, error) {
	if err := preflight.Machine(); err != nil {
		return nil, err
	}
	return cluster.New(c.Name, c.Cache, c.State, step.New(os.Stdout))
}

type buildCmd struct {
	Programs []string `arg:"" optional:"" help:"Build only these programs, such as kubectl."`
	Links    string   `placeholder:"DIR" help:"Put links to these programs into this folder." type:"path"`
}

func (b buildCmd) Run(ctx context.Context, c *cli) error {
	cl, err := c.cluster()
	if err != nil {
		return err
	}
	if err := cl.Build(ctx, b.Programs...); err != nil || b.Links == "" {
		return err
	}
	return cl.Link(ctx, b.Links, b.Programs...)
}

type upCmd struct{}

func (upCmd) Run(ctx context.Context, c *cli) error {
	cl, err := c.cluster()
	if err != nil {
		return err
	}
	return cl.Up(ctx)
}

type crossplaneCmd struct{}

func (crossplaneCmd) Run(ctx context.Context, c *cli) error {
	cl, err := c.cluster()
	if err != nil {
		return err
	}
	return cl.Crossplane(ctx)
}

type downCmd struct{}

func (downCmd) Run(ctx context.Context, c *cli) error {
	cl, err := c.cluster()
	if err != nil {
		return err
	}
	return cl.Down(ctx)
}

type statusCmd struct{}

func (statusCmd) Run(ctx context.Context, c *cli) error {
	cl, err := c.cluster()
	if err != nil {
		return err
	}
	return cl.Status(ctx, os.Stdout)
}

type execCmd struct {
	Command []string `arg:"" passthrough:"" help:"Command and arguments, after --."`
}

func (e execCmd) Run(c *cli) error {
	cl, err := c.cluster()
	if err != nil {
		return err
	}
	return cl.Exec(e.Command)
}

type logsCmd struct {
	Component string `arg:"" optional:"" help:"Component, such as kubelet."`
	Follow    bool   `short:"f" help:"Go on showing what is added."`
}

func (l logsCmd) Run(c *cli) error {
	cl, err := c.cluster()
	if err != nil {
		return err
	}
	return cl.Logs(l.Component, l.Follow)
}

type serveRegistryCmd struct {
	Address string   `required:""`
	Folder  string   `required:""`
	Shared  []string `required:""`
}

func (s serveRegistryCmd) Run(ctx context.Context) error {
	return registry.Run(ctx, s.Address, s.Folder, s.Shared...)
}

type serveGitCmd struct {
	Address string `required:""`
	Folder  string `required:""`
}

func (s serveGitCmd) Run(ctx context.Context) error {
	return gitserver.Run(ctx, s.Address, s.Folder)
}

type provisionVolumesCmd struct {
	Kubeconfig string `required:""`
	Folder     string `required:""`
}

func (p provisionVolumesCmd) Run(ctx context.Context) error {
	return provision.Run(ctx, p.Kubeconfig, p.Folder)
}
