// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestNamedTenant holds which Tenant an AdvisorAgent or a TenantQuota wakes.
func TestNamedTenant(t *testing.T) {
	t.Parallel()

	for _, o := range []client.Object{agent("a", "alice-default"), tenantQuota("q", "alice-default")} {
		if got := namedTenant(t.Context(), o); len(got) != 1 || got[0].NamespacedName != aliceKey {
			t.Errorf("%T wakes %v", o, got)
		}
	}

	if got := namedTenant(t.Context(), &corev1.Pod{}); len(got) > 0 {
		t.Errorf("another kind wakes %v", got)
	}
}
