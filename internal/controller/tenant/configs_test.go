// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// TestUsersOf holds that a provider configuration that changed wakes those that use it.
func TestUsersOf(t *testing.T) {
	t.Parallel()

	far := alice().Named("far").UID("uid-far").Config("ProviderConfig", "default")
	far.SetNamespace("far")

	foreign := alice().Named("foreign").UID("uid-foreign").Config("ClusterProviderConfig", "other")
	foreign.SetNamespace("far")

	otherConfig := clusterConfig(nil)
	otherConfig.SetName("other")

	objs := []client.Object{
		alice().Obj(), bob().Obj(), far.Obj(), foreign.Obj(),
		alice().Named("local").UID("uid-local").Config("ProviderConfig", "default").Obj(),
		alice().Named("other").UID("uid-other").Config("ClusterProviderConfig", "other").Obj(),
	}

	cases := map[string]struct {
		reason string
		config client.Object
		kind   schema.GroupVersionKind
		want   []string
	}{
		"Cluster": {
			"a cluster's serves all namespaces", otherConfig, v1alpha1.ClusterProviderConfigGroupVersionKind,
			[]string{"far/foreign", "kubeopera-system/other"},
		},
		"Platform": {
			"the platform's isolates also those of ProviderConfigs", clusterConfig(nil), v1alpha1.ClusterProviderConfigGroupVersionKind,
			[]string{"far/far", "kubeopera-system/alice-default", "kubeopera-system/bob", "kubeopera-system/local"},
		},
		"Local": {
			"a namespace's its own", localConfig(tenantNamespace, nil), v1alpha1.ProviderConfigGroupVersionKind, []string{"kubeopera-system/local"},
		},
		"Far":    {"and no other", localConfig("far", nil), v1alpha1.ProviderConfigGroupVersionKind, []string{"far/far"}},
		"Nobody": {"some nobody uses", localConfig("nowhere", nil), v1alpha1.ProviderConfigGroupVersionKind, []string{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, clonesOf(objs)...)
			got := []string{}
			for _, r := range connectTo(w, "").usersOf(tc.kind)(t.Context(), tc.config) {
				got = append(got, r.String())
			}

			slices.Sort(got)

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}

	w := newWorld(t, objs...)
	w.reads.failOn = "list *v1alpha1.TenantList"

	if got := connectTo(w, "").usersOf(v1alpha1.ClusterProviderConfigGroupVersionKind)(t.Context(), clusterConfig(nil)); len(got) > 0 {
		t.Errorf("what cannot be listed: %v", got)
	}
}

// TestConfigChanges holds that what failed by a provider configuration is tried at once
// when that has changed, and only then.
func TestConfigChanges(t *testing.T) {
	t.Parallel()

	own, _ := fakeHost(t)
	w, tn := newWorld(t, clusterConfig(nil)), alice().Obj()
	c := connectTo(w, own.URL)

	for i, step := range []struct {
		change  func(*v1alpha1.ClusterProviderConfig)
		pausing bool
	}{
		{func(*v1alpha1.ClusterProviderConfig) {}, true},
		{func(pc *v1alpha1.ClusterProviderConfig) { pc.Labels = map[string]string{"a": "b"} }, true},
		{func(pc *v1alpha1.ClusterProviderConfig) { pc.Generation++ }, false},
		{func(pc *v1alpha1.ClusterProviderConfig) { pc.UID = "uid-anew" }, false},
	} {
		if _, err := c.Connect(t.Context(), tn); err != nil {
			t.Fatal(err)
		}

		w.failures.add(tn, partHost, v1alpha1.TypeReleaseDeployed, errInjected, epoch)
		change(w, w.kube, "", "default", step.change)

		if _, err := c.Connect(t.Context(), tn); err != nil {
			t.Fatal(err)
		}

		if _, pausing := w.failures.pausing(tn, partHost, epoch); pausing != step.pausing {
			t.Errorf("step %d: it pauses: %t", i, pausing)
		}
	}
}

func TestConfigOf(t *testing.T) {
	t.Parallel()

	unset := alice()
	unset.Spec.ProviderConfigReference = nil

	for want, o := range map[string]client.Object{
		"ClusterProviderConfig/default": alice().Obj(), "ProviderConfig/mine": alice().Config("ProviderConfig", "mine").Obj(), "": unset.Obj(),
	} {
		if got := append(configOf(o), ""); got[0] != want {
			t.Errorf("got %q, want %q", got[0], want)
		}
	}

	if got := configOf(agent("a", "alice-default")); got != nil {
		t.Errorf("what is no Tenant uses %v", got)
	}
}
