// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg"
	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg/parser"
	pkgmetav1 "github.com/crossplane/crossplane/apis/v2/pkg/meta/v1"
	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/kubeopera/provider-kubeopera/hack/packages/pack"
)

const root = "../.."

// parsed is the package as Crossplane reads it.
func parsed(t *testing.T, img v1.Image) *parser.Package {
	t.Helper()
	metas, err := xpkg.BuildMetaScheme()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := xpkg.BuildObjectScheme()
	if err != nil {
		t.Fatal(err)
	}
	rc, err := xpkg.ExtractPackageYAML(img)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parser.New(metas, objects).Parse(t.Context(), rc)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// shipped are the packages of this repository without their programs.
func shipped(t *testing.T) map[string]*parser.Package {
	t.Helper()
	out := map[string]*parser.Package{}
	for _, e := range catalogue {
		img, err := pack.Build(t.Context(), e.source(os.DirFS(root), "v9.8.7", nil))
		if err != nil {
			t.Fatalf("%s must pass the lint: %v", e.name, err)
		}
		out[e.name] = parsed(t, img)
	}
	return out
}

func metaOf(t *testing.T, p *parser.Package) pkgmetav1.Pkg {
	t.Helper()
	m, ok := p.GetMeta()[0].(pkgmetav1.Pkg)
	if !ok {
		t.Fatalf("want metadata of v1, got %T", p.GetMeta()[0])
	}
	return m
}

func TestShippedMetadata(t *testing.T) {
	t.Parallel()
	for name, p := range shipped(t) {
		m := metaOf(t, p)
		if m.GetName() != name {
			t.Errorf("%s must have the name of its repository, got %q", name, m.GetName())
		}
		if c := m.GetCrossplaneConstraints(); c == nil || c.Version != ">=v2.0.0" {
			t.Errorf("%s needs Crossplane v2 and must say so, got %v", name, c)
		}
		for _, a := range []string{"friendly-name.meta.crossplane.io", "meta.crossplane.io/description", "meta.crossplane.io/license", "meta.crossplane.io/source"} {
			if m.GetAnnotations()[a] == "" {
				t.Errorf("%s must have annotation %s", name, a)
			}
		}
	}
}

func TestShippedDependencies(t *testing.T) {
	t.Parallel()
	got := map[string][]string{}
	for name, p := range shipped(t) {
		for _, d := range metaOf(t, p).GetDependencies() {
			got[name] = append(got[name], *d.Kind+" "+*d.Package+" "+d.Version)
		}
	}
	both := []string{"Provider ghcr.io/kubeopera/provider-kubeopera v9.8.7", "Function ghcr.io/kubeopera/function-cloudspace v9.8.7"}
	want := map[string][]string{"configuration-cloudspace": both, "configuration-cloudspace-claims": both}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is built together must be installed together: -want, +got:\n%s", diff)
	}
}

func TestShippedProvider(t *testing.T) {
	t.Parallel()
	p := shipped(t)["provider-kubeopera"]
	if !pkgmetav1.CapabilitiesContainFuzzyMatch(metaOf(t, p).GetCapabilities(), pkgmetav1.ProviderCapabilitySafeStart) {
		t.Error("the provider must start safely")
	}
	files, err := os.ReadDir(filepath.Join(root, "package", "crds"))
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, f := range files {
		group, plural, _ := strings.Cut(strings.TrimSuffix(f.Name(), ".yaml"), "_")
		want = append(want, plural+"."+group)
	}
	for _, o := range p.GetObjects() {
		m, err := meta.Accessor(o)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, m.GetName())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the provider must bring each CRD: -want, +got:\n%s", diff)
	}
}

func TestDependenciesComeFirst(t *testing.T) {
	t.Parallel()
	all, seen := shipped(t), map[string]bool{}
	for _, e := range catalogue {
		for _, d := range metaOf(t, all[e.name]).GetDependencies() {
			name, ours := strings.CutPrefix(*d.Package, siblings+"/")
			if ours && !seen[name] {
				t.Errorf("%s must stand after %s, or it could be pulled before that is there", e.name, name)
			}
		}
		seen[e.name] = true
	}
}

func TestVersionAccepted(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		want   bool
	}{
		"v0.1.0":      {reason: "the usual form", want: true},
		"v1.2.3-rc.1": {reason: "one that is tried before its release", want: true},
		"0.1.0":       {reason: "packages' tags begin with a v"},
		"v0.1":        {reason: "Crossplane would take it for a range"},
		"v0.1.0+a":    {reason: "a tag cannot hold a plus"},
		"latest":      {reason: "Crossplane could not order it"},
		"":            {reason: "there is no default"},
	}
	for version, tc := range cases {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			err := run(t.Context(), []string{"push", "--version", version, "--input", t.TempDir(), "--registry", "registry.invalid/ours"}, nil, io.Discard, io.Discard)
			if (err == nil) != tc.want {
				t.Errorf("%s: got %v", tc.reason, err)
			}
			if err != nil && !strings.Contains(err.Error(), "v0.1.0") {
				t.Errorf("%s: the error must show a good one, got %v", tc.reason, err)
			}
		})
	}
}
