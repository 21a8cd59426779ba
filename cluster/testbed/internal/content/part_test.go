// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/program"
)

func TestReferences(t *testing.T) {
	t.Parallel()
	got := OfCluster().References()
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

	want := []string{
		"crossplane/crossplane:v2.4.0", "crossplane/charts/crossplane:2.4.0",
		"crossplane-contrib/provider-kubernetes:v1.2.0", "crossplane-contrib/function-auto-ready:v0.6.0",
		"crossplane-contrib/function-patch-and-transform:v0.9.3",
	}
	if diff := cmp.Diff(want, OfCrossplane().References()); diff != "" {
		t.Errorf("Crossplane's: -want +got:\n%s", diff)
	}
}

// What a part serves is made of its own programs, or a plain cluster would have
// to build those of Crossplane.
func TestPartsHaveTheirPrograms(t *testing.T) {
	t.Parallel()
	for _, p := range []Part{OfCluster(), OfCrossplane()} {
		has := func(name string) bool {
			return slices.ContainsFunc(p.Programs(), func(q program.Program) bool { return q.Name == name })
		}
		for _, img := range p.images {
			for name := range img.Programs {
				if !has(name) {
					t.Errorf("image %q of %s holds %q, which is not among its programs", img.Names[0], p.name, name)
				}
			}
		}
		for _, pkg := range p.packages {
			if !has(pkg.program) {
				t.Errorf("package %q of %s holds %q, which is not among its programs", pkg.name, p.name, pkg.program)
			}
		}
	}
}

func TestPackageVersions(t *testing.T) {
	t.Parallel()
	for _, pkg := range OfCrossplane().packages {
		ps, err := program.Named(pkg.program)
		if err != nil {
			t.Fatal(err)
		}
		isFake := strings.HasPrefix(pkg.program, "fake-")
		if same := strings.HasSuffix(pkg.name, ":"+ps[0].Version); same == isFake {
			t.Errorf("package %q holds %s %s", pkg.name, pkg.program, ps[0].Version)
		}
		ours, err := pkg.digest()
		if err != nil {
			t.Fatal(err)
		}
		if isFake != strings.Contains(ours, "name: fake-") {
			t.Errorf("package %q with %s does not say whether it is a fake:\n%s", pkg.name, pkg.program, ours)
		}
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	if got := Path("ghcr.io/a/b:1"); got != "a/b:1" {
		t.Errorf("Path(...) = %q", got)
	}
}
