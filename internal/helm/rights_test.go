// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// TestForbidden holds what a host is asked for before anything is written to it: whether
// records can be kept in any namespace, and only where that is not so in the one.
func TestForbidden(t *testing.T) {
	t.Parallel()

	all := []string{"get", "create", "update", "delete"}
	everywhere, here := []string{"", "", "", ""}, []string{"a", "a", "a", "a"}

	cases := map[string]struct {
		reason string
		// everywhere and here are the verbs that are allowed in all namespaces and in one.
		everywhere, here []string
		// want are the verbs that are missing; asked are the namespaces that the host
		// is asked for, first and when it is asked again.
		want         []string
		asked, again []string
	}{
		"Everywhere": {"one question a minute does for a thousand namespaces", all, nil, nil, everywhere, nil},
		"Here":       {"who has the rights in this namespace only may use it", nil, all, nil, slices.Concat(everywhere, here), slices.Concat(everywhere, here)},
		"Missing":    {"what is missing is named", all[:1], all[:2], all[2:], slices.Concat(everywhere, here), slices.Concat(everywhere, here)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			cluster := fake.NewClientset()
			cluster.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
				review, ok := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview)
				if !ok {
					return false, nil, nil
				}
				about := review.Spec.ResourceAttributes
				asked = append(asked, about.Namespace)
				review.Status.Allowed = slices.Contains(tc.everywhere, about.Verb) || (about.Namespace != "" && slices.Contains(tc.here, about.Verb))
				return true, review, nil
			})
			h := &Host{access: cluster.AuthorizationV1()}
			ask := func(want []string) {
				t.Helper()
				asked = nil
				got, err := h.forbidden(t.Context(), "a")
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
				}
				if diff := cmp.Diff(want, asked); diff != "" {
					t.Errorf("%s: asked for namespaces: -want, +got:\n%s", tc.reason, diff)
				}
			}
			ask(tc.asked)
			ask(tc.again)
			h.allowedAt = h.allowedAt.Add(-allowedAge)
			ask(tc.asked)
		})
	}
}
