// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestInNetwork(t *testing.T) {
	t.Parallel()
	proc := t.TempDir()
	for pid, network := range map[int]string{10: "net:[42]", 11: "net:[421]", 12: "net:[42]", 13: "mnt:[42]"} {
		state := "S"
		if pid == 12 {
			state = "Z"
		}
		dir := addProcess(t, proc, pid, statLine(pid, "x", state, 5))
		if err := os.Symlink(network, filepath.Join(dir, "ns", "net")); err != nil {
			t.Fatal(err)
		}
	}
	// What is no process, and a process that ends while it is looked at.
	for _, name := range []string{"self", "14"} {
		if err := os.Mkdir(filepath.Join(proc, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	got, err := InNetwork(proc, 42)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Record{{PID: 10, Start: 5}}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAncestors(t *testing.T) {
	t.Parallel()
	proc := t.TempDir()
	self := os.Getpid()
	parents := map[int]int{self: 1 << 23, 1 << 23: 1, 1: 0, 1 << 24: self}
	for pid, parent := range parents {
		dir := filepath.Join(proc, fmt.Sprint(pid))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		status := fmt.Sprintf("Name:\tPPid: 9\nTracerPid:\t0\nPPid:\t%d\n", parent)
		if err := os.WriteFile(filepath.Join(dir, "status"), []byte(status), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(map[int]bool{self: true, 1 << 23: true, 1: true}, Ancestors(proc)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
