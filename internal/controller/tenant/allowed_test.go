// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// tier selects the namespaces of that label.
func tier(value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"tier": value}}
}

// TestAllow holds which namespaces may use a configuration. The labels of one are read
// only when a selector asks for them.
func TestAllow(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason    string
		allowed   *v1alpha1.AllowedNamespaces
		namespace string
		says      string // empty: it is allowed
	}{
		"unset":       {"it is for all, as before", nil, "nowhere", ""},
		"empty":       {"neither lists nor selects any", &v1alpha1.AllowedNamespaces{}, "team-a", "neither lists nor selects"},
		"listed":      {"by name", &v1alpha1.AllowedNamespaces{List: []string{"x", "nowhere"}}, "nowhere", ""},
		"not listed":  {"by another's name", &v1alpha1.AllowedNamespaces{List: []string{"team"}}, "team-a", "neither lists nor selects"},
		"selected":    {"by a label", &v1alpha1.AllowedNamespaces{Selector: tier("gold")}, "team-a", ""},
		"other label": {"by a label that it has not", &v1alpha1.AllowedNamespaces{Selector: tier("silver")}, "team-a", "neither lists nor selects"},
		"either":      {"one of both is enough", &v1alpha1.AllowedNamespaces{List: []string{"x"}, Selector: tier("gold")}, "team-a", ""},
		"all":         {"an empty selector selects all", &v1alpha1.AllowedNamespaces{Selector: &metav1.LabelSelector{}}, "team-a", ""},
		"unknown":     {"labels that cannot be read allow nothing", &v1alpha1.AllowedNamespaces{Selector: tier("gold")}, "nowhere", `cannot read namespace "nowhere"`},
		"nonsense": {"nor does what is no selector", &v1alpha1.AllowedNamespaces{Selector: &metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: "Like"}},
		}}, "team-a", "it is no selector"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			live := fake.NewClientBuilder().WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a", Labels: map[string]string{"tier": "gold"}}}).Build()

			err := config{name: `ClusterProviderConfig "lax"`, allowed: tc.allowed}.allow(t.Context(), live, tc.namespace)
			if (err == nil) != (tc.says == "") {
				t.Fatalf("%s: %v", tc.reason, err)
			}

			if err == nil {
				return
			}

			for _, want := range []string{tc.says, `ClusterProviderConfig "lax"`, "spec.allowedNamespaces", `namespace "` + tc.namespace + `"`} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: it does not say %q: %v", tc.reason, want, err)
				}
			}
		})
	}
}

// TestNotAllowed holds that a Tenant of a namespace that is not allowed gets no way to the
// host, and that one which was made when it was allowed is left as it is, and can go.
func TestNotAllowed(t *testing.T) {
	t.Parallel()

	own, _ := fakeHost(t)
	elsewhere := func(s *v1alpha1.ClusterProviderConfigSpec) {
		s.AllowedNamespaces = &v1alpha1.AllowedNamespaces{List: []string{"elsewhere"}}
	}

	cases := map[string]struct {
		reason  string
		tenant  tenantBuilder
		refused bool
		phase   v1alpha1.TenantPhase
	}{
		"new":     {"it would be made", alice(), true, v1alpha1.PhaseFailed},
		"Ready":   {"it runs", alice().Ready(), true, v1alpha1.PhaseReady},
		"deleted": {"it is to go", alice().Deleted(epoch), false, ""},
		"local":   {"a ProviderConfig that has its defaults is not bound by it", alice().Config("ProviderConfig", "default"), false, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t, clusterConfig(elsewhere), localConfig(tenantNamespace, nil)), tc.tenant.Obj()

			got, err := connectTo(w, own.URL).Connect(t.Context(), tn)
			if (got == nil) != tc.refused || errors.Is(err, errNotAllowed) != tc.refused {
				t.Fatalf("%s: %v", tc.reason, err)
			}

			if tc.refused && (tn.Status.Phase != tc.phase || !strings.Contains(tn.Status.Message, "spec.allowedNamespaces")) {
				t.Errorf("%s: %s: %s", tc.reason, tn.Status.Phase, tn.Status.Message)
			}
		})
	}

	w, _ := deleting(t)
	w.add(clusterConfig(elsewhere))
	w.reconcileUntilGone(w.reconcilerBy(&onWorld{w, connectTo(w, own.URL)}))

	if w.helm.release != nil || has[*corev1.Namespace](w, w.host, "", aliceNamespace) {
		t.Error("something is left of a Tenant that was not allowed any more")
	}
}

// TestAllowedNoMore holds that a change of the labels that a selector goes by counts from
// the next pass, also where nothing else has changed.
func TestAllowedNoMore(t *testing.T) {
	t.Parallel()

	own, _ := fakeHost(t)
	w := newWorld(t, clusterConfig(func(s *v1alpha1.ClusterProviderConfigSpec) {
		s.AllowedNamespaces = &v1alpha1.AllowedNamespaces{Selector: tier("gold")}
	}))
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tenantNamespace, Labels: map[string]string{"tier": "gold"}}}

	if err := w.kube.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}

	c, tn := connectTo(w, own.URL), alice().Ready().Obj()

	looked, err := c.Connect(t.Context(), tn)
	if err != nil {
		t.Fatal(err)
	}

	looked.(*external).keep(managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true})

	got, err := c.Connect(t.Context(), tn)
	if _, looks := got.(*external); err != nil || looks {
		t.Fatalf("nothing has changed, and it is looked at: %v", err)
	}

	ns.Labels["tier"] = "silver"
	if err := w.kube.Update(t.Context(), ns); err != nil {
		t.Fatal(err)
	}

	if _, err := c.Connect(t.Context(), tn); !errors.Is(err, errNotAllowed) {
		t.Errorf("its namespace is not selected any more: %v", err)
	}
}
