// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/quantity"
)

// seeds are specs that no schema has seen. Not all of them decode.
var seeds = []string{
	`{}`,
	`{"quota":{"cpu":"2\"; injected: true"}}`, `{"quota":{"cpu":"-1","memory":"0","storage":"1e30","pods":-1}}`,
	`{"vcluster":{"valuesOverrides":{"controlPlane":null},"chartVersion":"latest","distro":"k0s","kubernetesVersion":"\n"}}`,
	`{"vcluster":{"valuesOverrides":{"controlPlane":{"statefulSet":{"resources":{"limits":{"cpu":"1e-999999999"}}}}}}}`,
	`{"vcluster":{"valuesOverrides":[]},"flux":{"valuesOverrides":"x","chartVersion":""},"advisor":{"image":"\u0000","replicas":-7,"enabled":true}}`,
	`{"flux":{"enabled":false},"advisor":{"enabled":false},"managementPolicies":["Observe"]}`,
	`{"managementPolicies":[],"providerConfigRef":null,"writeConnectionSecretToRef":{"name":""}}`,
	`{"managementPolicies":["?"],"tenantName":"bob-default","cloudSpaceID":"..","userID":"//"}`,
	`{"tenantName":"","cloudSpaceID":"","userID":"\u0000"}`,
}

// FuzzTenant brings Tenants with any spec through bringThrough.
func FuzzTenant(f *testing.F) {
	for _, spec := range seeds {
		f.Add(spec)
	}

	f.Fuzz(bringThrough)
}

// bringThrough brings a new Tenant with the spec through two passes on a fake host, and then changes a Ready one
// to it. Nothing panics, and each error says something, in the status as well. What the schema refuses since nobody
// can compute with it does not come so far.
func bringThrough(t *testing.T, spec string) {
	var raw any
	if json.Unmarshal([]byte(spec), &raw) != nil || quantity.Check(raw, new(v1alpha1.TenantSpec)) != nil {
		return
	}

	tn := alice().Obj()
	if json.Unmarshal([]byte(spec), &tn.Spec) != nil {
		return
	}

	passNewAndChanged(t, &tn.Spec)
}

// passNewAndChanged has a new Tenant of the spec, and one that was Ready before.
func passNewAndChanged(t *testing.T, spec *v1alpha1.TenantSpec) {
	t.Helper()

	fresh, ready := alice().Obj(), alice().Obj()
	spec.DeepCopyInto(&fresh.Spec)

	w := newWorld(t)
	w.defaults.AllowedValuesOverrides = nil

	expectToldPasses(t, w, fresh)

	w = newWorld(t)
	w.defaults.AllowedValuesOverrides = nil
	w.arrive(ready)

	name, id := ready.Spec.TenantName, ready.Spec.CloudSpaceID
	spec.DeepCopyInto(&ready.Spec)

	// Those never change.
	ready.Spec.TenantName, ready.Spec.CloudSpaceID = name, id
	ready.SetGeneration(2)
	expectToldPasses(t, w, ready)
}

func expectToldPasses(t *testing.T, w *world, tn *v1alpha1.Tenant) {
	t.Helper()

	for range 2 {
		_, err := w.pass(tn)
		w.clock.SetTime(w.clock.Now().Add(time.Hour))

		if tn.Status.Phase == "" || tn.Status.Message == "" {
			t.Errorf("%v: the status says nothing: %q, %q", err, tn.Status.Phase, tn.Status.Message)
		}

		if err != nil && len(strings.Fields(err.Error())) < 3 {
			t.Errorf("it says nothing: %q", err)
		}
	}
}
