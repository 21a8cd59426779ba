// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package vclustertest gives tests the real vCluster chart.
package vclustertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
)

var (
	lock sync.Mutex
	dirs = map[string]string{}
)

// ModuleDir is the folder of vCluster's own module at a version without its v. Its
// chart lies below it.
func ModuleDir(t *testing.T, version string) string {
	t.Helper()

	dir, err := Fetch(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}

	return dir
}

// Fetch is ModuleDir for programs. The Go command fetches what it has not cached yet.
func Fetch(ctx context.Context, version string) (string, error) {
	lock.Lock()
	defer lock.Unlock()

	if dir, ok := dirs[version]; ok {
		return dir, nil
	}

	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", "github.com/loft-sh/vcluster@v"+version)
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")

	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("cannot fetch the vCluster module %s: %w: %s", version, err, out)
	}

	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil || module.Dir == "" {
		return "", fmt.Errorf("cannot find the vCluster module: %w: %s", errors.Join(err, os.ErrNotExist), out)
	}

	dirs[version] = module.Dir

	return module.Dir, nil
}
