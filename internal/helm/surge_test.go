// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Documents of a manifest. What is not a Deployment has odd spacing and a
// comment, which a round trip through YAML would lose.
const (
	crdDoc = `# Source: app/templates/crd.yaml
apiVersion: apiextensions.k8s.io/v1
kind:   CustomResourceDefinition
metadata: {name: xs.example.com}
spec:
  # A Deployment is mentioned.
  group:    "example.com"
  text: |
    kind: Deployment
     ---
    apiVersion: apps/v1
`
	recreateDoc = `# Source: app/templates/r.yaml
apiVersion: apps/v1
kind:   Deployment
metadata: {name: r}
spec: {strategy:   {type: Recreate}}
`
	plainDoc = `# Source: app/templates/p.yaml
# second
apiVersion: apps/v1
kind:   Deployment
metadata: {name: p}
spec:
  replicas:   1
  template: {spec: {securityContext: {runAsUser: 9007199254740993}}}
`
	plainChanged = `# Source: app/templates/p.yaml
# second
apiVersion: apps/v1
kind: Deployment
metadata:
  name: p
spec:
  replicas: 1
  strategy:
    rollingUpdate:
      maxSurge: 0
      maxUnavailable: 1
    type: RollingUpdate
  template:
    spec:
      securityContext:
        runAsUser: 9007199254740993
`
	changedStrategy = `  strategy:
    rollingUpdate:
      maxSurge: 0
      maxUnavailable: 1
    type: RollingUpdate
`
)

func deploymentWith(strategy string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nspec:\n" + strategy
}

func TestSurgeless(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		in, want string
	}{
		"Empty": {reason: "nothing stays nothing"},
		"NoStrategy": {
			reason: "the default strategy surges; comments above and large numbers stay",
			in:     plainDoc, want: plainChanged,
		},
		"Surge": {
			reason: "a surge that is asked for goes, with what goes with it",
			in:     deploymentWith("  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 2, maxUnavailable: 0}}\n"),
			want:   deploymentWith(changedStrategy),
		},
		"NullStrategy": {reason: "null is the default", in: deploymentWith("  strategy: null\n"), want: deploymentWith(changedStrategy)},
		"Untyped": {
			reason: "no type is RollingUpdate", in: deploymentWith("  strategy: {rollingUpdate: {maxSurge: 50%}}\n"),
			want: deploymentWith(changedStrategy),
		},
		"Recreate":    {reason: "Recreate never surges", in: recreateDoc, want: recreateDoc},
		"OtherGroup":  {reason: "only apps has the Deployment that is meant", in: "apiVersion: example.com/v1\nkind: Deployment\nspec:  {}\n", want: "apiVersion: example.com/v1\nkind: Deployment\nspec:  {}\n"},
		"NoSpec":      {reason: "the API server is to refuse it", in: "apiVersion: apps/v1\nkind:  Deployment\n", want: "apiVersion: apps/v1\nkind:  Deployment\n"},
		"StatefulSet": {reason: "a StatefulSet does not surge", in: "apiVersion: apps/v1\nkind:  StatefulSet\nspec: {x: Deployment}\n", want: "apiVersion: apps/v1\nkind:  StatefulSet\nspec: {x: Deployment}\n"},
		"List": {
			reason: "those in a list count, other items and rubbish do not",
			in:     "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret}\n- rubbish\n- {apiVersion: apps/v1, kind: Deployment, spec: {}}\n",
			want: "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Secret\n- rubbish\n- apiVersion: apps/v1\n  kind: Deployment\n" +
				"  spec:\n    strategy:\n      rollingUpdate:\n        maxSurge: 0\n        maxUnavailable: 1\n      type: RollingUpdate\nkind: List\n",
		},
		"ListWithoutAny": {
			reason: "a list with nothing to change stays", in: "apiVersion: v1\nkind:   List\nitems: [{kind: x, of: Deployment}]\n",
			want: "apiVersion: v1\nkind:   List\nitems: [{kind: x, of: Deployment}]\n",
		},
		"Several": {
			reason: "the others and what separates them stay byte for byte",
			in:     "---\n" + crdDoc + "\n\n--- # next\n" + plainDoc + "---\n---\r\n" + recreateDoc + "---",
			want:   "---\n" + crdDoc + "\n\n--- # next\n" + plainChanged + "---\n---\r\n" + recreateDoc + "---",
		},
		"NoNewline": {reason: "a last line needs no end", in: "---\nkind:  X", want: "---\nkind:  X"},
		"NoSeparator": {
			reason: "what only begins like a separator is none",
			in:     "a: 'x\n\n---- Deployment'\n", want: "a: 'x\n\n---- Deployment'\n",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := surgeless{}.Run(bytes.NewBufferString(tc.in))
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got.String()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestSurgelessRefuses(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"Deployment: a: b\n", "Deployment: a: b\n---\nkind: Secret\n"} {
		_, err := surgeless{}.Run(bytes.NewBufferString(in))
		if err == nil || !strings.Contains(err.Error(), "Deployment") {
			t.Errorf("%q is not YAML, got %v", in, err)
		}
	}
}

func TestSurgelessTwice(t *testing.T) {
	t.Parallel()
	got, err := surgeless{}.Run(bytes.NewBufferString(plainChanged))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plainChanged, got.String()); diff != "" {
		t.Errorf("the second time must change nothing: -want, +got:\n%s", diff)
	}
}
