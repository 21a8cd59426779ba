// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
)

// pinned are the settings that change what the compiler makes, besides its own
// version. A digest must not depend on what somebody has set on a machine.
var pinned = []string{
	"CGO_ENABLED=0", "GOOS=linux", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off",
	// Not empty, or the user's own file of settings would hold.
	"GOFLAGS=-mod=readonly",
}

// compile makes a static program from the Go package. It tells the program its
// version, if that has a place for it.
func compile(ctx context.Context, command, file, arch, version string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags=",
		"-ldflags=-s -w -X main.version="+version, "-o", file, command)
	cmd.Env = append(append(os.Environ(), pinned...), "GOARCH="+arch)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("cannot compile %s for %s: %w\n%s", command, arch, err, bytes.TrimSpace(out))
	}
	return nil
}
