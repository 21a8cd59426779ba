// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/go-logr/logr"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
)

// Main is the main function of a program of that name. It parses the command line into
// an F, as kong does, and runs run with it until that returns. Its context ends at an
// interrupt or SIGTERM. If it errs, or was interrupted, the program says so and ends
// with status 1.
func Main[F any](name, description string, run func(context.Context, F) error) {
	var f F

	kong.Parse(&f, kong.Name(name), kong.Description(description))
	// What must be known is printed; libraries have nothing to add.
	ctrllog.SetLogger(logr.Discard())

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)

	err := run(ctx, f)
	if ctx.Err() != nil {
		err = errors.Join(context.Cause(ctx), err)
	}

	stop()

	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: error: %v\n", name, err)
		os.Exit(1)
	}
}
