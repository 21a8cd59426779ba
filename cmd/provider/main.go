// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// The provider-kubeopera provider makes and keeps CloudSpaces. It takes each
// setting from a flag or from an environment variable.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime/debug"
	"strconv"
	"time"

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

// gcPercent is by how much the heap may grow, in percent of what is in use, before
// garbage is collected, unless GOGC says otherwise. Most of the heap is caches that stay:
// with Go's 100 as much again would be held for garbage.
const gcPercent = 50

func main() {
	collectSooner()

	ctx := ctrl.SetupSignalHandler()
	os.Exit(run(ctx, os.Args[1:], os.Stderr))
}

func collectSooner() {
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
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
		if errors.Is(err, app.ErrNoCluster) {
			return exitBadValue
		}
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
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(duration)),
		kong.TypeMapper(reflect.TypeFor[int](), kong.MapperFunc(number)),
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

// duration reads one, and says what else it must be.
func duration(ctx *kong.DecodeContext, target reflect.Value) error {
	var s string
	if err := ctx.Scan.PopValueInto("duration", &s); err != nil {
		return err //nolint:wrapcheck // Kong names the flag.
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("%q is not a duration; set it to one such as 1m", s)
	}
	target.SetInt(int64(d))
	return nil
}

// number reads one, and says what else it must be.
func number(ctx *kong.DecodeContext, target reflect.Value) error {
	var s string
	if err := ctx.Scan.PopValueInto("number", &s); err != nil {
		return err //nolint:wrapcheck // Kong names the flag.
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return fmt.Errorf("%q is not a number; set it to one such as 100", s)
	}
	target.SetInt(int64(n))
	return nil
}
