// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package v1alpha1_test

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// Whoever says how Tenants are isolated from the provider's own cluster is the platform.
func testIsolation(t *testing.T, c client.Client) {
	configs := configs()
	onInjected := configs["Namespaced"]
	onOwnHost := with(t, onInjected, "spec.credentials", ownHost())
	database := map[string]any{"to": []any{map[string]any{"ipBlock": map[string]any{"cidr": "10.1.2.0/24"}}}, "ports": []any{map[string]any{"port": int64(5432)}}}

	for name, tc := range map[string]struct {
		path  string
		value any
	}{
		"Level":       {"spec.isolation", map[string]any{"podSecurity": "restricted"}},
		"Empty":       {"spec.isolation", map[string]any{}},
		"Egress":      {"spec.isolation", map[string]any{"egress": []any{database}}},
		"NoEgress":    {"spec.isolation", map[string]any{"egress": []any{}, "ingress": []any{}}},
		"Overrides":   {"spec.allowedValuesOverrides", []any{"controlPlane.coredns"}},
		"NoOverrides": {"spec.allowedValuesOverrides", []any{}},
	} {
		t.Run(name, func(t *testing.T) {
			for reason, config := range map[string]*object{
				"A ClusterProviderConfig says how Tenants are isolated.":  configs["Cluster"],
				"So does a ProviderConfig for a host cluster of its own.": onOwnHost,
			} {
				if err := c.Create(t.Context(), with(t, config, tc.path, tc.value), client.DryRunAll, client.FieldValidation("Strict")); err != nil {
					t.Errorf("%s\nCreate(...): %v", reason, err)
				}
			}

			err := c.Create(t.Context(), with(t, onInjected, tc.path, tc.value), client.DryRunAll)
			refused(t, "The provider's own cluster is none of a namespace's.", err, "need credentials.source Secret", "ClusterProviderConfig named default")
		})
	}

	for kind, config := range map[string]*object{"Cluster": configs["Cluster"], "Namespaced": onOwnHost} {
		for name, tc := range map[string]struct {
			path  string
			value any
			want  string
		}{
			"Level": {"spec.isolation.podSecurity", "baselin", "spec.isolation.podSecurity"},
			"Rules": {"spec.isolation.egress", rules(65), "spec.isolation.egress"},
			"Path":  {"spec.allowedValuesOverrides", []any{"controlPlane..x"}, "spec.allowedValuesOverrides[0]"},
		} {
			t.Run(kind+name, func(t *testing.T) {
				err := c.Create(t.Context(), with(t, config, tc.path, tc.value), client.DryRunAll)
				refused(t, "The schema names the field.", err, tc.want)
			})
		}
	}

	testIsolationStored(t, c)
}

func rules(n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = map[string]any{}
	}

	return out
}

// testIsolationStored holds that nothing at all and nothing said stay two things, on the
// way to the API server and back.
func testIsolationStored(t *testing.T, c client.Client) {
	scheme := c.Scheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}

	for name, want := range map[string]*v1alpha1.Isolation{
		"nothing-said": {PodSecurity: v1alpha1.PodSecurityBaseline},
		"nothing":      {PodSecurity: v1alpha1.PodSecurityBaseline, Egress: []networkingv1.NetworkPolicyEgressRule{}, Ingress: []networkingv1.NetworkPolicyIngressRule{}},
		"everything":   {PodSecurity: v1alpha1.PodSecurityBaseline, Egress: []networkingv1.NetworkPolicyEgressRule{{}}},
	} {
		t.Run(name, func(t *testing.T) {
			pc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: name}}
			pc.Spec.Credentials.Source, pc.Spec.Isolation = "InjectedIdentity", want.DeepCopy()

			if err := c.Create(t.Context(), pc); err != nil {
				t.Fatal(err)
			}

			got := &v1alpha1.ClusterProviderConfig{}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(pc), got); err != nil {
				t.Fatal(err)
			}

			i := got.Spec.Isolation
			if i == nil || i.PodSecurity != want.PodSecurity || (i.Egress == nil) != (want.Egress == nil) || (i.Ingress == nil) != (want.Ingress == nil) || len(i.Egress) != len(want.Egress) {
				t.Errorf("made %+v, stored %+v", want, i)
			}

			// A controller that writes back what it read must not change it.
			if err := c.Update(t.Context(), got); err != nil {
				t.Fatal(err)
			}

			if err := c.Get(t.Context(), client.ObjectKeyFromObject(pc), got); err != nil {
				t.Fatal(err)
			}

			if (got.Spec.Isolation.Egress == nil) != (want.Egress == nil) || got.GetGeneration() != 1 {
				t.Errorf("written back, it became %+v, generation %d", got.Spec.Isolation, got.GetGeneration())
			}
		})
	}
}
