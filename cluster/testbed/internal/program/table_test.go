// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range All() {
		if seen[p.Name] {
			t.Errorf("program %q is in the table twice", p.Name)
		}
		seen[p.Name] = true
		files, err := source(p.Module)
		if err != nil {
			t.Errorf("program %q: %v", p.Name, err)
			continue
		}
		if want := "module testbed.kubeopera.io/" + p.Module + "\n"; !strings.HasPrefix(string(files["go.mod"]), want) {
			t.Errorf("program %q: its go.mod does not start with %q", p.Name, want)
		}
		if _, ok := files["main.go"]; ok != (p.Package == ".") {
			t.Errorf("program %q: has main.go of its own: %t, but package is %q", p.Name, ok, p.Package)
		}
		if p.Package != "." && !strings.Contains(string(files["go.mod"]), " "+p.Version) {
			t.Errorf("program %q: its go.mod does not require %s", p.Name, p.Version)
		}
	}
}

func TestPlainClusterBuildsNothingElse(t *testing.T) {
	t.Parallel()
	for _, p := range OfCluster() {
		if slices.ContainsFunc(slices.Concat(OfCrossplane(), benchTable), func(o Program) bool { return o.Name == p.Name }) {
			t.Errorf("a plain cluster builds %q", p.Name)
		}
	}
	if got, want := len(All()), len(OfCluster())+len(OfCrossplane())+len(benchTable); got != want {
		t.Errorf("there are %d programs, want %d", got, want)
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		names  []string
		want   []string
		fails  bool
	}{
		"TableOrder":  {reason: "the order is the table's, in which modules stay together", names: []string{"etcd", "kubelet"}, want: []string{"kubelet", "etcd"}},
		"BothTables":  {reason: "what only Crossplane needs comes last, and can be named too", names: []string{"crossplane", "pause"}, want: []string{"pause", "crossplane"}},
		"UnknownName": {reason: "a misspelt name must not be skipped in silence", names: []string{"kubelet", "kubelett"}, fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ps, err := Named(tc.names...)
			if (err != nil) != tc.fails {
				t.Fatalf("%s: Named(...) error: %v", tc.reason, err)
			}
			var got []string
			for _, p := range ps {
				got = append(got, p.Name)
			}
			if !tc.fails {
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
				}
			}
		})
	}
}
