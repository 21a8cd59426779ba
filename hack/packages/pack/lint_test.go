// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"os"
	"strings"
	"testing"
)

// edit returns the text with one piece replaced, which must be there.
func edit(t *testing.T, text, old, by string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("%q is not in the text", old)
	}
	return strings.Replace(text, old, by, 1)
}

func TestBuildRefuses(t *testing.T) {
	t.Parallel()
	function := edit(t, providerMeta, "kind: Provider", "kind: Function")
	cases := map[string]struct {
		reason string
		files  map[string]string
		want   []string
	}{
		"NoMeta": {
			reason: "a package without metadata is none",
			files:  map[string]string{"a.yaml": crd},
			want:   []string{"crossplane.yaml", "no such file"},
		},
		"TwoMetas": {
			reason: "one file must not describe two packages",
			files:  map[string]string{"crossplane.yaml": providerMeta + "---\n" + configurationMeta},
			want:   []string{"crossplane.yaml", "holds 2 objects", "leave in it only"},
		},
		"MetaOfAnotherKind": {
			reason: "what is installed is not what is built",
			files:  map[string]string{"crossplane.yaml": edit(t, providerMeta, "meta.pkg.crossplane.io/v1\n", "pkg.crossplane.io/v1\n")},
			want:   []string{"crossplane.yaml", "pkg.crossplane.io/v1", "set apiVersion to meta.pkg.crossplane.io/v1"},
		},
		"MisspeltField": {
			reason: "a field that Crossplane does not know would be dropped without a word",
			files:  map[string]string{"crossplane.yaml": edit(t, providerMeta, "capabilities", "capability")},
			want:   []string{"crossplane.yaml", `"spec.capability"`, "correct it"},
		},
		"MisspeltFieldOfObject": {
			reason: "the same in what the package brings",
			files:  map[string]string{"crossplane.yaml": providerMeta, "a.yaml": edit(t, crd, "scope:", "skope:")},
			want:   []string{"a.yaml", `"spec.skope"`, "correct it"},
		},
		"BrokenYAML": {
			reason: "the file is named, since there are many",
			files:  map[string]string{"crossplane.yaml": providerMeta, "a.yaml": crd, "b.yaml": "a: [b\n"},
			want:   []string{"b.yaml", "correct the YAML"},
		},
		"NoName": {
			reason: "a package has a name",
			files:  map[string]string{"crossplane.yaml": edit(t, providerMeta, "  name: provider-example\n", "")},
			want:   []string{"crossplane.yaml", "set metadata.name"},
		},
		"BadConstraint": {
			reason: "Crossplane could not tell whether it is new enough",
			files:  map[string]string{"crossplane.yaml": edit(t, providerMeta, ">=v2.0.0", "two")},
			want:   []string{"crossplane.yaml", "set spec.crossplane.version"},
		},
		"XRDInProvider": {
			reason: "a provider brings no XRDs",
			files:  map[string]string{"crossplane.yaml": providerMeta, "a.yaml": crd, "b.yaml": xrd},
			want:   []string{"b.yaml", `CompositeResourceDefinition "spaces.example.org"`, "move it into a Configuration"},
		},
		"CRDInConfiguration": {
			reason: "a Configuration brings no CRDs",
			files:  map[string]string{"crossplane.yaml": configurationMeta, "b.yaml": crd},
			want:   []string{"b.yaml", `CustomResourceDefinition "things.example.org"`, "move it into a Provider"},
		},
		"CompositionInFunction": {
			reason: "a Function brings neither",
			files:  map[string]string{"crossplane.yaml": function, "b.yaml": composition},
			want:   []string{"b.yaml", `Composition "spaces.example.org"`, "move it into"},
		},
		"KindOfNoPackage": {
			reason: "packages bring no Secrets",
			files:  map[string]string{"crossplane.yaml": providerMeta, "b.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n"},
			want:   []string{"b.yaml", "Secret", "take it out"},
		},
		"Twice": {
			reason: "one of the two would be lost",
			files:  map[string]string{"crossplane.yaml": providerMeta, "a.yaml": crd, "b.yaml": crd},
			want:   []string{"b.yaml", `"things.example.org"`, "a.yaml already", "remove one"},
		},
		"NamelessObject": {
			reason: "Crossplane could not install it",
			files:  map[string]string{"crossplane.yaml": providerMeta, "a.yaml": edit(t, crd, "  name: things.example.org\n", "  labels: {}\n")},
			want:   []string{"a.yaml", "CustomResourceDefinition has no name", "set metadata.name"},
		},
		"UnknownFunction": {
			reason: "a composition would fail at its first claim",
			files:  map[string]string{"crossplane.yaml": configurationMeta, "b.yaml": edit(t, composition, "name: theirs-function-other", "name: function-other")},
			want:   []string{"b.yaml", `step "compose"`, `"function-other"`, "crossplane.yaml", "installs with it: theirs-function-other"},
		},
		"DependencyWithTag": {
			reason: "the version has a field of its own",
			files:  map[string]string{"crossplane.yaml": edit(t, configurationMeta, "function-other\n", "function-other:v1\n")},
			want:   []string{"crossplane.yaml", "spec.dependsOn[1]", "without a tag"},
		},
		"DependencyWithoutRegistry": {
			reason: "Crossplane v2 has no default registry",
			files:  map[string]string{"crossplane.yaml": edit(t, configurationMeta, "example.org/theirs/", "theirs/")},
			want:   []string{"crossplane.yaml", "spec.dependsOn[1]", "with its registry"},
		},
		"DependencyWithoutVersion": {
			reason: "only siblings have a version that is known",
			files:  map[string]string{"crossplane.yaml": edit(t, configurationMeta, "      version: \">=v0.3.0\"\n", "")},
			want:   []string{"crossplane.yaml", "spec.dependsOn[1]", "set it to a version"},
		},
		"SiblingWithVersion": {
			reason: "it would be overruled",
			files:  map[string]string{"crossplane.yaml": edit(t, configurationMeta, "provider-example\n", "provider-example\n      version: v0.0.1\n")},
			want:   []string{"crossplane.yaml", "spec.dependsOn[0]", "remove version \"v0.0.1\""},
		},
		"DependencyIsText": {
			reason: "a list of names is a likely mistake",
			files:  map[string]string{"crossplane.yaml": edit(t, configurationMeta, "    - apiVersion", "    - a\n    - apiVersion")},
			want:   []string{"crossplane.yaml", "spec.dependsOn[0]", "apiVersion, kind, package and version"},
		},
		"DependenciesAreText": {
			reason: "neither is one name a list",
			files:  map[string]string{"crossplane.yaml": providerMeta + "  dependsOn: a\n"},
			want:   []string{"crossplane.yaml", "spec.dependsOn", "write a list"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Build(t.Context(), Package{Files: os.DirFS(folder(t, tc.files)), Meta: "crossplane.yaml", Objects: []string{"."}, Version: "v1.2.3", Siblings: "example.org/ours"})
			if err == nil {
				t.Fatalf("%s: want an error", tc.reason)
			}
			for _, w := range tc.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%s: want %q in the error, got: %v", tc.reason, w, err)
				}
			}
		})
	}
}
