// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// The provider-kubeopera provider makes and keeps CloudSpaces. It takes each
// setting from a flag or from an environment variable.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
	// The provider's image holds no certificates, and kubeopera-api, OCI registries
	// and chart repositories on the internet speak TLS. What a machine or a mount
	// brings counts instead.
	_ "golang.org/x/crypto/x509roots/fallback"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/kubeopera/provider-kubeopera/internal/app"
)

// Exit codes.
const (
	exitFailed   = 1
	exitBadValue = 2
)

// version is set when the provider is built for its package.
var version = "dev"

func main() {
	ctx := ctrl.SetupSignalHandler()
	os.Exit(run(ctx, os.Args[1:], os.Stderr))
}

// run returns the exit code. What went wrong is one line on stderr.
func run(ctx context.Context, args []string, stderr io.Writer) int {
	f, err := parse(args)
	if err != nil {
		fmt.Fprintln(stderr, "provider: cannot start:", err)
		return exitBadValue
	}
	log := app.NewLogger(stderr, f.Debug)
	log.Info("Starting the provider", "version", version)
	if err := app.Run(ctx, f.config(), log); err != nil {
		fmt.Fprintln(stderr, "provider:", err)
		return exitFailed
	}
	return 0
}

// parse reads the settings and checks them. Help ends the program.
func parse(args []string, opts ...kong.Option) (*flags, error) {
	f := &flags{}
	opts = append([]kong.Option{
		kong.Name("provider"),
		kong.Description("Makes and keeps CloudSpaces: one vCluster for each Tenant."),
		kong.DefaultEnvars(""),
		vars(),
	}, opts...)
	parser, err := kong.New(f, opts...)
	if err != nil {
		return nil, fmt.Errorf("cannot define flags: %w", err)
	}
	if _, err := parser.Parse(args); err != nil {
		return nil, fmt.Errorf("%w; see --help", err)
	}
	return f, f.config().Validate()
}
