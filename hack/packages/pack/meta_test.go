// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"testing"
	"testing/fstest"

	pkgmetav1 "github.com/crossplane/crossplane/apis/v2/pkg/meta/v1"
	"github.com/google/go-cmp/cmp"
)

func TestVersionsOfDependencies(t *testing.T) {
	t.Parallel()
	const digest = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	cases := map[string]struct {
		reason   string
		siblings string
		meta     string
		want     []string
	}{
		"Sibling": {
			reason:   "a sibling gets the version of the build, and others keep theirs",
			siblings: "example.org/ours", meta: configurationMeta, want: []string{"v1.2.3", ">=v0.3.0"},
		},
		"NeighbourOfSiblings": {
			reason:   "a path that only begins like that of the siblings is another's",
			siblings: "example.org/our", meta: edit(t, configurationMeta, "provider-example\n", "provider-example\n      version: v1.0.0\n"),
			want: []string{"v1.0.0", ">=v0.3.0"},
		},
		"NoSiblings": {
			reason: "a package of others is left as it is",
			meta:   edit(t, configurationMeta, "provider-example\n", "provider-example\n      version: "+digest+"\n"),
			want:   []string{digest, ">=v0.3.0"},
		},
		"OldFields": {
			reason:   "older packages name a dependency by its kind",
			siblings: "example.org/ours", meta: edit(t, configurationMeta, "      package: example.org/theirs", "      function: example.org/theirs"),
			want: []string{"v1.2.3", ">=v0.3.0"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := newSchemes()
			if err != nil {
				t.Fatal(err)
			}
			files := fstest.MapFS{"crossplane.yaml": {Data: []byte(tc.meta)}}
			src, err := s.source(Package{Files: files, Meta: "crossplane.yaml", Version: "v1.2.3", Siblings: tc.siblings})
			if err != nil {
				t.Fatal(err)
			}
			c, ok := src.meta.object.(*pkgmetav1.Configuration)
			if !ok {
				t.Fatalf("want a Configuration, got %T", src.meta.object)
			}
			var got []string
			for _, d := range c.Spec.DependsOn {
				got = append(got, d.Version)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want versions, +got versions:\n%s", tc.reason, diff)
			}
		})
	}
}
