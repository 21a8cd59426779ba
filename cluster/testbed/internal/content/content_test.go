// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/images"
)

func busybox(t *testing.T, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "busybox")
	if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func digestOf(s string) func() (string, error) { return func() (string, error) { return s, nil } }

func TestKey(t *testing.T) {
	t.Parallel()
	part := Part{
		images:   []images.Image{{Names: []string{"example.org/a:1"}}},
		charts:   []chartSource{{reference: "charts/a:1", digest: digestOf("one")}},
		packages: []packageSource{{name: "example.org/p:1", digest: digestOf("one")}},
	}
	programs := map[string]string{"pause": "/cache/pause-v1-aaa/pause", "kine": "/cache/kine-v1-bbb/kine"}
	base := images.Inputs{Programs: programs, Busybox: busybox(t, "one")}
	want, err := key(part, base)
	if err != nil {
		t.Fatal(err)
	}
	other := maps.Clone(programs)
	other["kine"] = "/cache/kine-v1-ccc/kine"
	moved := map[string]string{"pause": "/elsewhere/pause-v1-aaa/pause", "kine": "/elsewhere/kine-v1-bbb/kine"}

	cases := map[string]struct {
		reason string
		part   func(*Part)
		in     images.Inputs
		same   bool
	}{
		"Same":         {reason: "equal content in another file is the same", in: images.Inputs{Programs: programs, Busybox: busybox(t, "one")}, same: true},
		"OtherCache":   {reason: "where the cache is does not matter", in: images.Inputs{Programs: moved, Busybox: base.Busybox}, same: true},
		"OtherBusybox": {reason: "busybox is part of the images", in: images.Inputs{Programs: programs, Busybox: busybox(t, "two")}},
		"OtherProgram": {reason: "the programs are part of the images", in: images.Inputs{Programs: other, Busybox: base.Busybox}},
		"OtherImages":  {reason: "an image may get another user", in: base, part: func(p *Part) { p.images = []images.Image{{Names: []string{"example.org/a:1"}, User: "1:1"}} }},
		"OtherVersion": {reason: "a chart may get another version", in: base, part: func(p *Part) { p.charts = []chartSource{{reference: "charts/a:2", digest: digestOf("one")}} }},
		"OtherChart":   {reason: "a chart of our own may change", in: base, part: func(p *Part) { p.charts = []chartSource{{reference: "charts/a:1", digest: digestOf("two")}} }},
		"OtherPath": {reason: "a program may move in its package", in: base, part: func(p *Part) {
			p.packages = []packageSource{{name: "example.org/p:1", path: "/x", digest: digestOf("one")}}
		}},
		"OtherMeta": {reason: "metadata of our own may change", in: base, part: func(p *Part) { p.packages = []packageSource{{name: "example.org/p:1", digest: digestOf("two")}} }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := part
			if tc.part != nil {
				tc.part(&p)
			}
			got, err := key(p, tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if (got == want) != tc.same {
				t.Errorf("%s: key is %q, was %q", tc.reason, got, want)
			}
		})
	}
}

func TestKeyFails(t *testing.T) {
	t.Parallel()
	if _, err := key(Part{}, images.Inputs{Busybox: filepath.Join(t.TempDir(), "nosuch")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("key(...) without busybox = %v, want %v", err, os.ErrNotExist)
	}
	broken := errors.New("broken")
	part := Part{charts: []chartSource{{digest: func() (string, error) { return "", broken }}}}
	if _, err := key(part, images.Inputs{Busybox: busybox(t, "one")}); !errors.Is(err, broken) {
		t.Errorf("key(...) of a chart that cannot be read = %v, want %v", err, broken)
	}
	part = Part{packages: []packageSource{{digest: func() (string, error) { return "", broken }}}}
	if _, err := key(part, images.Inputs{Busybox: busybox(t, "one")}); !errors.Is(err, broken) {
		t.Errorf("key(...) of a package that cannot be read = %v, want %v", err, broken)
	}
}

func TestMade(t *testing.T) {
	t.Parallel()
	s := &Set{folder: filepath.Join(t.TempDir(), "set")}
	if made, err := s.Made(); made || err != nil {
		t.Errorf("Made() of nothing = %t, %v", made, err)
	}
	// What an interrupted run left does not count.
	if err := os.Mkdir(s.folder+".part", 0o755); err != nil {
		t.Fatal(err)
	}
	if made, err := s.Made(); made || err != nil {
		t.Errorf("Made() of a part = %t, %v", made, err)
	}
	if err := os.Mkdir(s.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if made, err := s.Made(); !made || err != nil {
		t.Errorf("Made() of a set = %t, %v", made, err)
	}
}
