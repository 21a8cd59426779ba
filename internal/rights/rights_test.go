// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
)

func TestFromRules(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason    string
		rules     []rbacv1.PolicyRule
		namespace string
		want      []string
	}{
		"None": {reason: "No rules give no rights."},
		"Product": {
			reason: "Each verb on each resource of each group is a right of its own.",
			rules:  []rbacv1.PolicyRule{{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"get", "list"}}},
			want:   []string{"get events", "list events", "get events.events.k8s.io", "list events.events.k8s.io"},
		},
		"Subresource": {
			reason: "A subresource is not its resource.",
			rules:  []rbacv1.PolicyRule{{APIGroups: []string{"kubeopera.io"}, Resources: []string{"tenants", "tenants/status"}, Verbs: []string{"update"}}},
			want:   []string{"update tenants.kubeopera.io", "update tenants.kubeopera.io/status"},
		},
		"Names": {
			reason: "A rule about objects of a name is about each of them.",
			rules:  []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"a", "b"}, Verbs: []string{"get"}}},
			want:   []string{`get secrets "a"`, `get secrets "b"`},
		},
		"Namespace": {
			reason:    "A Role is about its namespace.",
			rules:     []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}}},
			namespace: "kubeopera-system",
			want:      []string{`create configmaps in namespace "kubeopera-system"`},
		},
		"Twice": {
			reason: "What two rules give is one right.",
			rules: []rbacv1.PolicyRule{
				{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list"}},
				{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list", "watch"}},
			},
			want: []string{"get pods", "list pods", "watch pods"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := FromRules(tc.rules, tc.namespace)
			if err != nil {
				t.Fatalf("%s\nFromRules(...): %v", tc.reason, err)
			}
			var words []string
			for _, r := range got {
				words = append(words, r.String())
			}
			if diff := cmp.Diff(tc.want, words); diff != "" {
				t.Errorf("%s\nFromRules(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	if _, err := FromRules([]rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}}, ""); err == nil {
		t.Error("A rule that cannot be reviewed is not passed over.")
	}
}

func TestMissingError(t *testing.T) {
	t.Parallel()
	err := &MissingError{Rights: []Right{{Verb: "list", Resource: "pods"}, {Verb: "create", Group: "apps", Resource: "deployments", Subresource: "scale"}}}
	if want := "missing rights: create deployments.apps/scale, list pods"; err.Error() != want {
		t.Errorf("Rights are named in an order that does not change: want %q, got %q", want, err)
	}
}
