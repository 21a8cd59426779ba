// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

// TestBinds holds that an object carries the UID of its Tenant before it can be inside
// of it, and none before there is anything to be inside of.
func TestBinds(t *testing.T) {
	t.Parallel()

	refused := insidetest.Tenant()
	refused.Status.KubeconfigSecret = ""

	cases := map[string]struct {
		reason string
		was    types.UID
		kube   []client.Object
		want   types.UID
	}{
		"Published":   {"it may be inside from now on", "", []client.Object{insidetest.Tenant()}, "uid-alice"},
		"Refused":     {"a Tenant that never had a vCluster of its own holds nothing", "", []client.Object{refused}, ""},
		"NoTenant":    {"there is nothing to be inside of", "", nil, ""},
		"Stays":       {"what it was inside of is not forgotten with the Tenant", "uid-alice", nil, "uid-alice"},
		"Unpublished": {"nor while the Tenant says nothing", "uid-alice", []client.Object{refused}, "uid-alice"},
		"Successor":   {"it follows a Tenant that was made anew", "uid-before", []client.Object{refused}, "uid-alice"},
	}
	for name, tc := range cases {
		a := insidetest.Agent("a")
		if tc.was == "" {
			a.SetLabels(nil)
		} else {
			a.Labels[v1alpha1.LabelTenantUID] = string(tc.was)
		}

		kube := newKube(append(clones(tc.kube), a)...)
		if err := (initializer{kube}).Initialize(t.Context(), a); err != nil {
			t.Fatalf("%s: %v", name, err)
		}

		stored := &v1alpha1.AdvisorAgent{}
		if err := kube.Get(t.Context(), client.ObjectKeyFromObject(a), stored); err != nil {
			t.Fatal(err)
		}

		if got := boundTo(stored); got != tc.want {
			t.Errorf("%s: %s: it is bound to %q", name, tc.reason, got)
		}
	}
}
