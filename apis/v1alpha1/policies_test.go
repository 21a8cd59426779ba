// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package v1alpha1_test

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The rule takes exactly the policies that the runtime supports: an object with others
// would be stored and never be worked on.
func testManagementPolicies(t *testing.T, c client.Client) {
	actions := []xpv2.ManagementAction{
		xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate,
		xpv2.ManagementActionDelete, xpv2.ManagementActionLateInitialize, xpv2.ManagementActionAll,
	}
	objects := []*object{
		tenant(t),
		inside("AdvisorAgent", map[string]any{}),
		inside("TenantQuota", map[string]any{"hard": map[string]any{"pods": int64(10)}}),
	}

	for set := range 1 << len(actions) {
		policies, written := xpv2.ManagementPolicies{}, []any{}
		for i, a := range actions {
			if set&(1<<i) != 0 {
				policies, written = append(policies, a), append(written, string(a))
			}
		}

		unsupported := managed.NewManagementPoliciesResolver(true, policies).Validate()

		for _, o := range objects {
			err := c.Create(t.Context(), with(t, o, "spec.managementPolicies", written), client.DryRunAll)
			if unsupported != nil {
				refused(t, o.GetKind()+": "+unsupported.Error(), err, "managementPolicies must be")
			} else if err != nil {
				t.Errorf("%s with %v, which the runtime supports: %v", o.GetKind(), written, err)
			}
		}
	}
}
