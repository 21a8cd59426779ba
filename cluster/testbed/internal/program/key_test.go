// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"strings"
	"testing"
)

func TestKey(t *testing.T) {
	t.Parallel()
	base := Program{Name: "etcd", Module: "etcd", Package: ".", Version: "v1", LDFlags: "-s"}
	key := func(p Program, goVersion string) string {
		t.Helper()
		k, err := Key(p, goVersion)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	want := key(base, "go1")
	if !strings.HasPrefix(want, "etcd-v1-") {
		t.Errorf("key %q does not say what it is the key of", want)
	}
	if again := key(base, "go1"); again != want {
		t.Errorf("key is %q first and %q then", want, again)
	}

	cases := map[string]struct {
		reason  string
		change  func(*Program)
		version string
	}{
		"Version":   {reason: "another version is another program", change: func(p *Program) { p.Version = "v2" }, version: "go1"},
		"Package":   {reason: "another package is another program", change: func(p *Program) { p.Package = "./x" }, version: "go1"},
		"LDFlags":   {reason: "linker flags set what the program says of itself", change: func(p *Program) { p.LDFlags = "-w" }, version: "go1"},
		"Tags":      {reason: "tags choose files", change: func(p *Program) { p.Tags = "x" }, version: "go1"},
		"CGO":       {reason: "cgo chooses files", change: func(p *Program) { p.CGO = true }, version: "go1"},
		"Module":    {reason: "the module decides every dependency", change: func(p *Program) { p.Module = "pause" }, version: "go1"},
		"GoVersion": {reason: "the compiler decides the code", change: func(*Program) {}, version: "go2"},
		"Boundary":  {reason: "what is moved from one field to its neighbour is a change", change: func(p *Program) { p.LDFlags, p.Tags = "", "-s" }, version: "go1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := base
			tc.change(&p)
			got, err := Key(p, tc.version)
			if err != nil {
				t.Fatal(err)
			}
			if got == want {
				t.Errorf("%s: the key stays %q", tc.reason, got)
			}
		})
	}

	if _, err := Key(Program{Module: "nosuch"}, "go1"); err == nil {
		t.Error("a module that is not there has a key")
	}
}
