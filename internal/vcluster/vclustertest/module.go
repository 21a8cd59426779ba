// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package vclustertest gives tests the real vCluster chart.
package vclustertest

import (
	"encoding/json"
	"os"
	"os/exec"
	"sync"
	"testing"
)

var (
	lock sync.Mutex
	dirs = map[string]string{}
)

// ModuleDir is the folder of vCluster's own module at a version without its v,
// fetched by the Go command when it is not cached yet. Its chart lies below it.
func ModuleDir(t *testing.T, version string) string {
	t.Helper()
	lock.Lock()
	defer lock.Unlock()

	if dir, ok := dirs[version]; ok {
		return dir
	}

	cmd := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", "github.com/loft-sh/vcluster@v"+version)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")

	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("cannot fetch the vCluster module %s: %v: %s", version, err, out)
	}

	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil || module.Dir == "" {
		t.Fatalf("the Go command names no folder for the vCluster module: %v: %s", err, out)
	}

	dirs[version] = module.Dir

	return module.Dir
}
