// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/quota"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

func mustDesire(t *testing.T, b tenantBuilder) desired {
	t.Helper()

	d, err := desire(b.Obj(), defaults{
		chartVersion: "0.36.1", environment: "test",
		HostDefaults: v1alpha1.HostDefaults{AllowedValuesOverrides: []string{vcluster.AllowAll}},
	})
	if err != nil {
		t.Fatal(err)
	}

	return d
}

// wallOf is the wall of the vCluster alone.
func wallOf(t *testing.T, b tenantBuilder) corev1.ResourceQuotaSpec {
	t.Helper()

	return quota.Wall(b.Spec.Quota, mustDesire(t, b).allowance)
}

func TestDesire(t *testing.T) {
	t.Parallel()

	distro := func(b tenantBuilder, d v1alpha1.Distro) tenantBuilder {
		b.vcluster().Distro = ptr.To(d)
		return b
	}

	cases := map[string]struct {
		reason   string
		tenant   tenantBuilder
		defaults defaults
		chart    string
		// path and value of one thing in the values.
		path  []string
		value any
		// errs is part of the error.
		errs string
	}{
		"Default": {
			reason: "the default chart version, without its v", tenant: alice(), defaults: defaults{chartVersion: "v0.36.1"}, chart: "0.36.1",
			path: []string{"controlPlane", "distro", "k8s", "enabled"}, value: true,
		},
		"TenantsChart": {
			reason: "the Tenant's own version wins", tenant: alice().Chart("0.30.4"), defaults: defaults{chartVersion: "0.36.1"}, chart: "0.30.4",
			path: []string{"controlPlane", "distro", "k3s", "enabled"}, value: true,
		},
		"Registry": {
			reason: "the provider configuration's registry", tenant: alice(), defaults: defaults{chartVersion: "0.36.1", HostDefaults: v1alpha1.HostDefaults{ImageRegistry: "r.example.org/m"}},
			chart: "0.36.1", path: []string{"controlPlane", "advanced", "defaultImageRegistry"}, value: "r.example.org/m",
		},
		"Overrides": {
			reason: "overrides win", tenant: alice().Overrides(`{"sync": {"toHost": {"ingresses": {"enabled": false}}}}`), defaults: defaults{chartVersion: "0.36.1"},
			chart: "0.36.1", path: []string{"sync", "toHost", "ingresses", "enabled"}, value: false,
		},
		"EmptyOverrides": {
			reason: "empty overrides are none", tenant: alice().Overrides(``), defaults: defaults{chartVersion: "0.36.1"},
			chart: "0.36.1", path: []string{"telemetry", "enabled"}, value: false,
		},
		"MoreAllowed": {
			reason: "overrides win that the provider configuration allows", tenant: alice().Overrides(`{"telemetry": {"enabled": true}}`),
			defaults: defaults{chartVersion: "0.36.1", HostDefaults: v1alpha1.HostDefaults{AllowedValuesOverrides: []string{"telemetry"}}},
			chart:    "0.36.1", path: []string{"telemetry", "enabled"}, value: true,
		},
		"NoneAllowed": {
			reason: "what is allowed unless told otherwise", tenant: alice().Overrides(`{"logging": {"encoding": "json"}}`),
			defaults: defaults{chartVersion: "0.36.1", HostDefaults: v1alpha1.HostDefaults{AllowedValuesOverrides: []string{}}, isolatedBy: `ProviderConfig "x"`},
			errs:     `cannot use vcluster.valuesOverrides: not allowed to a Tenant: logging.encoding: take that out, or have spec.allowedValuesOverrides of ProviderConfig "x" allow it`,
		},
		"BadVersion": {
			reason: "a version that is not supported", tenant: alice().Chart("0.19.0"), errs: "vcluster.chartVersion",
		},
		"BadDefault": {
			reason: "a default that is none, and where it comes from", tenant: alice(), defaults: defaults{chartVersion: "1", chartVersionFrom: "chart.version of x"}, errs: "chart.version of x",
		},
		"BadOverrides": {
			reason: "overrides that are no object", tenant: alice().Overrides(`[1]`), errs: "vcluster.valuesOverrides",
		},
		"BadResources": {
			reason:   "a quantity that is none",
			tenant:   alice().Overrides(`{"controlPlane": {"coredns": {"deployment": {"resources": {"limits": {"cpu": "4 cores"}}}}}}`),
			defaults: defaults{chartVersion: "0.36.1"}, errs: "vcluster.valuesOverrides",
		},
		"BadDistro": {
			reason: "a distro that the chart has not", tenant: distro(alice(), v1alpha1.DistroK3s), defaults: defaults{chartVersion: "0.36.1"},
			errs: "vcluster.distro",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d, err := desire(tc.tenant.Obj(), tc.defaults)
			if tc.errs != "" {
				if err == nil || !strings.Contains(err.Error(), tc.errs) {
					t.Errorf("%s: want an error that names %s, got %v", tc.reason, tc.errs, err)
				}

				return
			}

			if err != nil || d.chartVersion != tc.chart {
				t.Fatalf("%s: want chart %s, got %q and %v", tc.reason, tc.chart, d.chartVersion, err)
			}

			if got := dig(d.values, tc.path...); got != tc.value {
				t.Errorf("%s: %v is %v, want %v", tc.reason, tc.path, got, tc.value)
			}
		})
	}
}

// TestDesireIsStable holds that the same Tenant gives the same release and wall,
// and that the wall holds the quota and the allowance.
func TestDesireIsStable(t *testing.T) {
	t.Parallel()

	first := mustDesire(t, alice())
	for range 20 {
		if again := mustDesire(t, alice()); !helm.ValuesEqual(first.values, again.values) {
			t.Fatalf("the values differ: %v and %v", first.values, again.values)
		}
	}

	// 4 of the quota, 2 of the control plane, 1 of CoreDNS.
	if got, want := wallOf(t, alice()).Hard[corev1.ResourceLimitsCPU], resource.MustParse("7"); got.Cmp(want) != 0 {
		t.Errorf("limits.cpu of the wall is %s, want %s", got.String(), want.String())
	}
}

func dig(values map[string]any, path ...string) any {
	var node any = values

	for _, key := range path {
		m, _ := node.(map[string]any)
		node = m[key]
	}

	return node
}
