// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSource(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		want   []string
	}{
		"kine":             {reason: "a program of someone else has no Go file of ours", want: []string{"go.mod", "go.sum"}},
		"pause":            {reason: "a file is built under its real name", want: []string{"go.mod", "go.sum", "main.go"}},
		"fake-app-advisor": {reason: "tests are not built", want: []string{"go.mod", "go.sum", "main.go"}},
		"kube-network-policies": {
			reason: "a package in a folder of the program's is built with it",
			want:   []string{"go.mod", "go.sum", "localpods/localpods.go", "main.go"},
		},
		"fake-function-patch-and-transform": {
			reason: "a program may have several files",
			want:   []string{"fn.go", "go.mod", "go.sum", "input.go", "main.go", "patch.go"},
		},
	}
	for module, tc := range cases {
		t.Run(module, func(t *testing.T) {
			t.Parallel()
			files, err := source(module)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, slices.Sorted(maps.Keys(files))); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWriteSourceLeavesNothingOld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old.go"), []byte("package other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeSource("pause", dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if diff := cmp.Diff([]string{"go.mod", "go.sum", "main.go"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
