// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// The packages program builds this repository's Crossplane packages and pushes
// them to a registry. It runs in the repository's root and needs Go, but no
// container engine.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/Masterminds/semver/v3"
	"github.com/alecthomas/kong"
)

type cli struct {
	Build buildCmd `cmd:"" help:"Check and build the packages, one .xpkg file each and for each architecture."`
	Push  pushCmd  `cmd:"" help:"Push what was built. What is there already is not sent again."`
}

// selection says which packages are meant.
type selection struct {
	Version string   `required:"" placeholder:"VERSION" help:"Version of all packages, such as v0.1.0."`
	Arch    []string `default:"amd64,arm64" enum:"amd64,arm64" placeholder:"ARCH" help:"Architectures of the packages that hold a program [${default}]."`
}

// Validate accepts versions that Crossplane and registries both understand.
func (s selection) Validate() error {
	v, err := semver.StrictNewVersion(strings.TrimPrefix(s.Version, "v"))
	if err != nil || !strings.HasPrefix(s.Version, "v") || v.Metadata() != "" {
		return fmt.Errorf("--version: %q cannot tag a package; set it to one such as v0.1.0 or v0.2.0-rc.1", s.Version)
	}
	return nil
}

type buildCmd struct {
	selection
	Output string `required:"" placeholder:"FOLDER" help:"Folder that the packages are written to."`
}

type pushCmd struct {
	selection
	Input     string `required:"" placeholder:"FOLDER" help:"Folder that they were built into."`
	Registry  string `required:"" placeholder:"PREFIX" help:"Registry and path that they are pushed to, such as ghcr.io/kubeopera."`
	Overwrite bool   `help:"Also move a tag that names something else. Clusters that have pulled it keep what they have."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], catalogue, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "packages: error:", err)
		os.Exit(1)
	}
}

// A job is what a command works on. It writes results to stdout and progress to
// stderr.
type job struct {
	packages       []entry
	stdout, stderr io.Writer
}

// run builds or pushes all of the packages.
func run(ctx context.Context, args []string, all []entry, stdout, stderr io.Writer) error {
	var c cli
	p, err := kong.New(&c, kong.Name("packages"), kong.Description("Builds and pushes the Crossplane packages of this repository."), kong.Writers(stdout, stderr))
	if err != nil {
		return fmt.Errorf("cannot define flags: %w", err)
	}
	k, err := p.Parse(args)
	if err != nil {
		return fmt.Errorf("%w; see --help", err)
	}
	k.BindTo(ctx, (*context.Context)(nil))
	return k.Run(job{packages: all, stdout: stdout, stderr: stderr})
}
