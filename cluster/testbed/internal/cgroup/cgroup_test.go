// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCreateV1(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root+"/cpuset/cpuset.cpus", "0-3\n")
	write(t, root+"/cpuset/cpuset.mems", "0\n")
	write(t, root+"/memory/tasks", "")
	if err := os.Symlink("memory", root+"/link"); err != nil {
		t.Fatal(err)
	}
	// The kernel makes these files with the group.
	write(t, root+"/cpuset/a/cpuset.cpus", "")
	write(t, root+"/cpuset/a/b/cpuset.cpus", "1\n")

	tree := New(root, "/a/b")
	for range 2 {
		if err := tree.Create(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(root + "/memory/a/b"); err != nil {
		t.Error(err)
	}
	if got := read(t, root+"/cpuset/a/cpuset.cpus"); got != "0-3\n" {
		t.Errorf("new group has the CPUs %q, want its parent's", got)
	}
	if got := read(t, root+"/cpuset/a/b/cpuset.cpus"); got != "1\n" {
		t.Errorf("group that had CPUs has now %q", got)
	}
}

func TestCreateV2(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root+"/cgroup.controllers", "cpuset cpu memory pids\n")
	if err := New(root, "/a/b").Create(); err != nil {
		t.Fatal(err)
	}
	// Each write to the real file adds one controller.
	for _, dir := range []string{root, root + "/a"} {
		if got := read(t, dir+"/cgroup.subtree_control"); got != "+pids" {
			t.Errorf("last controller delegated in %q is %q", dir, got)
		}
	}
	if _, err := os.Stat(root + "/a/b/cgroup.subtree_control"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the group delegates itself, which is the kubelet's to do")
	}
}

func TestProcesses(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write(t, root+"/memory/cgroup.procs", "1\n")
	write(t, root+"/memory/a/b/cgroup.procs", "30\n20\n")
	write(t, root+"/memory/a/b/c/d/cgroup.procs", "40\n")
	write(t, root+"/memory/a/bb/cgroup.procs", "2\n")
	write(t, root+"/pids/a/b/cgroup.procs", "20\n50\n")
	got, err := New(root, "/a/b").Processes()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{20, 30, 40, 50}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got, err := New(root, "/nosuch").Processes(); err != nil || len(got) != 0 {
		t.Errorf("Processes() of no group = %v, %v", got, err)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		others []string
		want   []string
	}{
		"Alone":  {reason: "an empty parent goes too", want: []string{"memory", "pids"}},
		"Shared": {reason: "a parent that holds another cluster stays", others: []string{"pids/a/other"}, want: []string{"memory", "pids", "pids/a", "pids/a/other"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for _, dir := range append(tc.others, "memory/a/b/c/d", "memory/a/b/e", "pids/a/b") {
				if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := New(root, "/a/b").Remove(); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
				if path != root {
					rel, _ := filepath.Rel(root, path)
					got = append(got, rel)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}
