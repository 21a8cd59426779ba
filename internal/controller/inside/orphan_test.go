// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

func TestMayOrphan(t *testing.T) {
	t.Parallel()

	at := func(s int) time.Time { return insidetest.Epoch.Add(time.Duration(s) * time.Second) }
	never := insidetest.Tenant()
	never.Status.KubeconfigSecret = ""

	neverInside := insidetest.Deleted(insidetest.Agent("a"), at(0))
	delete(neverInside.Labels, v1alpha1.LabelTenantUID)

	alive := Target{Tenant: insidetest.Tenant()}
	going := Target{Tenant: insidetest.Deleted(insidetest.Tenant(), at(100))}

	cases := map[string]struct {
		reason string
		of     resource.Managed
		target Target
		err    error
		now    time.Time
		want   orphaning
	}{
		"NoTenant":     {"its Tenant is gone", nil, Target{}, errNoTenant, at(0), orphaning{allowed: true, because: errNoTenant.Error()}},
		"NeverInside":  {"its Tenant never was", neverInside, Target{}, errNoTenant, at(0), orphaning{allowed: true}},
		"NeverOpen":    {"its Tenant never had a kubeconfig", nil, Target{Tenant: never}, errNoKubeconfig, at(0), orphaning{allowed: true}},
		"Lost":         {"a kubeconfig that was there comes back", nil, alive, errNoKubeconfig, at(999), orphaning{}},
		"Unreachable":  {"nothing is left behind in a vCluster that lives", nil, alive, errUnreachable, at(999), orphaning{}},
		"Failing":      {"whatever the error", nil, alive, insidetest.ErrInjected, at(999), orphaning{}},
		"Unreadable":   {"a Tenant that cannot be read may be alive", nil, Target{}, insidetest.ErrInjected, at(999), orphaning{}},
		"Trying":       {"it tries as long as it has time", nil, going, insidetest.ErrInjected, at(101), orphaning{again: at(115)}},
		"AlmostOver":   {"to the end", nil, going, insidetest.ErrInjected, at(115).Add(-1), orphaning{again: at(115)}},
		"Over":         {"and goes when it has none", nil, going, insidetest.ErrInjected, at(115), orphaning{allowed: true, because: `Tenant "alice-default" is being deleted, and not all was removed within 15s: injected failure`}},
		"LaterRequest": {"its time begins with its own deletion", insidetest.Deleted(insidetest.Agent("a"), at(200)), going, insidetest.ErrInjected, at(210), orphaning{again: at(215)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			mg := tc.of
			if mg == nil {
				mg = insidetest.Deleted(insidetest.Agent("a"), at(0))
			}

			if got := mayOrphan(mg, tc.target, tc.err, tc.now); got != tc.want {
				t.Errorf("%s: got %+v, want %+v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestCallTimeout(t *testing.T) {
	t.Parallel()

	at := func(s int) time.Time { return insidetest.Epoch.Add(time.Duration(s) * time.Second) }
	mg := insidetest.Deleted(insidetest.Agent("a"), at(0))
	going := Target{Tenant: insidetest.Deleted(insidetest.Tenant(), at(0))}

	for name, tc := range map[string]struct {
		of     resource.Managed
		target Target
		now    time.Time
		want   time.Duration
	}{
		"NoTenant":    {mg, Target{}, at(0), 10 * time.Second},
		"Alive":       {mg, Target{Tenant: insidetest.Tenant()}, at(14), 10 * time.Second},
		"NotDeleted":  {insidetest.Agent("a"), going, at(14), 10 * time.Second},
		"Enough":      {mg, going, at(1), 10 * time.Second},
		"TheRest":     {mg, going, at(12), 3 * time.Second},
		"LastAttempt": {mg, going, at(99), time.Second},
	} {
		if got := callTimeout(tc.of, tc.target, tc.now); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// TestBudgets holds that each ends before the next larger one.
func TestBudgets(t *testing.T) {
	t.Parallel()

	if PassTimeout >= removalBudget || removalBudget >= TenantBudget {
		t.Errorf("a pass has %s, a removal %s, and a Tenant %s", PassTimeout, removalBudget, TenantBudget)
	}
}
