// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package v1alpha1_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// configs are one configuration of each kind, with nothing set.
func configs() map[string]*object {
	return map[string]*object{
		"Namespaced": {Object: map[string]any{
			"apiVersion": "kubeopera.io/v1alpha1", "kind": "ProviderConfig",
			"metadata": map[string]any{"name": "default", "namespace": "kubeopera-system"},
			"spec":     map[string]any{},
		}},
		"Cluster": {Object: map[string]any{
			"apiVersion": "kubeopera.io/v1alpha1", "kind": "ClusterProviderConfig",
			"metadata": map[string]any{"name": "default"},
			"spec":     map[string]any{},
		}},
	}
}

func testProviderConfig(t *testing.T, c client.Client) {
	for kind, config := range configs() {
		t.Run(kind, func(t *testing.T) {
			reason := "With nothing set, the host is the cluster that the provider runs in."
			got := config.DeepCopy()
			if err := c.Create(t.Context(), got, client.DryRunAll); err != nil {
				t.Fatalf("%s\nCreate(...): %v", reason, err)
			}
			equal(t, reason, got, "spec.credentials.source", "InjectedIdentity")

			reason = "The chart may come from a registry or a repository of one's own."
			for _, chart := range []map[string]any{
				{"repository": "oci://10.89.0.1:5000/loft-sh/charts/vcluster", "version": "0.36.1", "plainHTTP": true},
				{"repository": "https://charts.loft.sh/vcluster", "caBundle": "UEVN"},
			} {
				got := with(t, config, "spec.chart", chart)
				if err := c.Create(t.Context(), got, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
					t.Errorf("%s\nCreate(...): %v", reason, err)
				}
			}
		})
	}

	secret := map[string]any{"name": "host", "key": "kubeconfig"}
	local := with(t, configs()["Namespaced"], "spec.credentials", map[string]any{"source": "Secret", "secretRef": secret})
	if err := c.Create(t.Context(), local, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
		t.Errorf("A kubeconfig may lie in a Secret of the configuration's namespace.\nCreate(...): %v", err)
	}
	foreign := with(t, local, "spec.credentials.secretRef.namespace", "kube-system")
	err := c.Create(t.Context(), foreign, client.DryRunAll, client.FieldValidation("Strict"))
	refused(t, "A namespaced configuration may not read another namespace.", err, "spec.credentials.secretRef.namespace")
}

func testProviderConfigRefused(t *testing.T, c client.Client) {
	cases := map[string]struct {
		reason string
		path   string
		value  any
		want   []string
	}{
		"Source":     {"Two sources are known.", "spec.credentials.source", "Upbound", []string{"spec.credentials.source", "InjectedIdentity"}},
		"NoSecret":   {"A Secret must be named.", "spec.credentials.source", "Secret", []string{"credentials.secretRef is required when credentials.source is Secret"}},
		"Repository": {"It names the chart too.", "spec.chart.repository", "https://charts.loft.sh", []string{"spec.chart.repository", "must be a URL with the chart's name"}},
		"Scheme":     {"It says how to get there.", "spec.chart.repository", "ghcr.io/loft-sh/charts/vcluster", []string{"spec.chart.repository", "must be a URL with the chart's name"}},
		"Spec":       {"It is required.", "spec", nil, []string{"spec", "Required"}},
	}
	for kind, config := range configs() {
		for name, tc := range cases {
			t.Run(kind+name, func(t *testing.T) {
				err := c.Create(t.Context(), with(t, config, tc.path, tc.value), client.DryRunAll)
				refused(t, tc.reason, err, tc.want...)
			})
		}
	}
}

func testUsage(t *testing.T, c client.Client) {
	usage := &object{Object: map[string]any{
		"apiVersion": "kubeopera.io/v1alpha1", "kind": "ProviderConfigUsage",
		"metadata":          map[string]any{"name": "7e9d3a1b", "namespace": "kubeopera-system"},
		"providerConfigRef": map[string]any{"kind": "ClusterProviderConfig", "name": "default"},
		"resourceRef":       map[string]any{"apiVersion": "kubeopera.io/v1alpha1", "kind": "Tenant", "name": "alice-default"},
	}}
	if err := c.Create(t.Context(), usage.DeepCopy(), client.DryRunAll, client.FieldValidation("Strict")); err != nil {
		t.Errorf("A usage names a configuration and who uses it.\nCreate(...): %v", err)
	}
	for _, field := range []string{"providerConfigRef", "resourceRef"} {
		err := c.Create(t.Context(), with(t, usage, field, nil), client.DryRunAll)
		refused(t, "Both ends of a usage are required.", err, field, "Required")
	}
}
