// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
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

func TestKey(t *testing.T) {
	t.Parallel()
	programs := map[string]string{"pause": "/cache/pause-v1-aaa/pause", "kine": "/cache/kine-v1-bbb/kine"}
	base := images.Inputs{Programs: programs, Busybox: busybox(t, "one")}
	want, err := key(base)
	if err != nil {
		t.Fatal(err)
	}
	other := maps.Clone(programs)
	other["kine"] = "/cache/kine-v1-ccc/kine"
	moved := map[string]string{"pause": "/elsewhere/pause-v1-aaa/pause", "kine": "/elsewhere/kine-v1-bbb/kine"}

	cases := map[string]struct {
		reason string
		in     images.Inputs
		same   bool
	}{
		"Same":         {reason: "equal content in another file is the same", in: images.Inputs{Programs: programs, Busybox: busybox(t, "one")}, same: true},
		"OtherCache":   {reason: "where the cache is does not matter", in: images.Inputs{Programs: moved, Busybox: base.Busybox}, same: true},
		"OtherBusybox": {reason: "busybox is part of the images", in: images.Inputs{Programs: programs, Busybox: busybox(t, "two")}},
		"OtherProgram": {reason: "the programs are part of the images", in: images.Inputs{Programs: other, Busybox: base.Busybox}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := key(tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if (got == want) != tc.same {
				t.Errorf("%s: key is %q, was %q", tc.reason, got, want)
			}
		})
	}
	if _, err := key(images.Inputs{Busybox: filepath.Join(t.TempDir(), "nosuch")}); err == nil {
		t.Error("a busybox that is not there has a key")
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	got := References()
	for _, want := range []string{
		"pause:3.10", "library/busybox:1.36", "loft-sh/vcluster-oss:0.36.1", "loft-sh/kubernetes:v1.36.0",
		"coredns/coredns:1.14.2", "loft-sh/charts/vcluster:0.36.1",
		"fluxcd/source-controller:v1.9.6", "fluxcd/kustomize-controller:v1.9.6", "fluxcd-community/charts/flux2:2.19.0",
		"kubeopera/fake-app-advisor:v1",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
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
