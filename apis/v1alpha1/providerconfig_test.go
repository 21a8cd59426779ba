// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package v1alpha1_test

import (
	"fmt"
	"strings"
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

// ownHost is a host cluster that a configuration brings its own credentials for.
func ownHost() map[string]any {
	return map[string]any{"source": "Secret", "secretRef": map[string]any{"name": "host", "key": "kubeconfig"}}
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

			reason = "Tenants may have defaults on any host."
			for _, chart := range []map[string]any{
				{"version": "0.36.1"},
				{"version": "v0.36.0-rc.1", "plainHTTP": false, "pullSecretRef": pullSecret(config)},
			} {
				got := with(t, config, "spec.chart", chart)
				if err := c.Create(t.Context(), got, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
					t.Errorf("%s\nCreate(...): %v", reason, err)
				}
			}
		})
	}

	local := with(t, configs()["Namespaced"], "spec.credentials", ownHost())
	if err := c.Create(t.Context(), local, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
		t.Errorf("A kubeconfig may lie in a Secret of the configuration's namespace.\nCreate(...): %v", err)
	}
	foreign := with(t, local, "spec.credentials.secretRef.namespace", "kube-system")
	err := c.Create(t.Context(), foreign, client.DryRunAll, client.FieldValidation("Strict"))
	refused(t, "A namespaced configuration may not read another namespace.", err, "spec.credentials.secretRef.namespace")
}

// pullSecret refers to a Secret as the configuration's kind does.
func pullSecret(config *object) map[string]any {
	if config.GetNamespace() == "" {
		return map[string]any{"name": "registry", "namespace": "kubeopera-system"}
	}
	return map[string]any{"name": "registry"}
}

// Charts and images run with the rights of the host's credentials: who may
// write in one namespace must not choose what runs with the provider's own.
func testProviderConfigOrigin(t *testing.T, c client.Client) {
	configs := configs()
	onInjected := configs["Namespaced"]
	onOwnHost := with(t, onInjected, "spec.credentials", ownHost())

	for name, tc := range map[string]struct {
		path  string
		value any
	}{
		"Repository":     {"spec.chart", map[string]any{"repository": "oci://10.89.0.1:5000/loft-sh/charts/vcluster", "version": "0.36.1"}},
		"PlainHTTP":      {"spec.chart", map[string]any{"plainHTTP": true}},
		"CABundle":       {"spec.chart", map[string]any{"caBundle": "UEVN"}},
		"ImageRegistry":  {"spec.imageRegistry", "registry.example.org/mirror"},
		"FluxRepository": {"spec.fluxChart", map[string]any{"repository": "oci://10.89.0.1:5000/fluxcd-community/charts/flux2", "version": "2.19.0"}},
		"FluxPlainHTTP":  {"spec.fluxChart", map[string]any{"plainHTTP": true}},
		"FluxCABundle":   {"spec.fluxChart", map[string]any{"caBundle": "UEVN"}},
	} {
		t.Run(name, func(t *testing.T) {
			for reason, config := range map[string]*object{
				"A ClusterProviderConfig says where charts and images come from.": configs["Cluster"],
				"So does a ProviderConfig for a host cluster of its own.":         onOwnHost,
			} {
				if err := c.Create(t.Context(), with(t, config, tc.path, tc.value), client.DryRunAll, client.FieldValidation("Strict")); err != nil {
					t.Errorf("%s\nCreate(...): %v", reason, err)
				}
			}

			err := c.Create(t.Context(), with(t, onInjected, tc.path, tc.value), client.DryRunAll)
			refused(t, "The provider's own cluster is none of a namespace's.", err,
				strings.TrimPrefix(tc.path, "spec."), "need credentials.source Secret", "set them in a ClusterProviderConfig")

			kept := with(t, onOwnHost, tc.path, tc.value)
			create(t, c, kept)
			err = c.Update(t.Context(), with(t, kept, "spec.credentials", map[string]any{"source": "InjectedIdentity"}), client.DryRunAll)
			refused(t, "Nor can a change of credentials bring them there.", err, "need credentials.source Secret")
		})
	}
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
		"Range":      {"A range would change under the Tenants.", "spec.chart.version", "0.36.x", []string{"spec.chart.version", "version must be an exact version, such as 0.36.1"}},
		"Latest":     {"So would a name.", "spec.chart.version", "latest", []string{"spec.chart.version", "version must be an exact version"}},
		"Minor":      {"A minor version is not exact.", "spec.chart.version", "0.36", []string{"spec.chart.version", "version must be an exact version"}},
		"Flux":       {"The same rules hold for Flux's chart.", "spec.fluxChart.version", "2.x", []string{"spec.fluxChart.version", "version must be an exact version"}},
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

// testAllowedNamespaces holds that the platform says which namespaces use its
// configurations, by names and labels that there can be.
func testAllowedNamespaces(t *testing.T, c client.Client) {
	const path = "spec.allowedNamespaces"
	configs := configs()

	labels := map[string]any{}
	for i := range 65 {
		labels[fmt.Sprintf("label-%d", i)] = "x"
	}

	for name, tc := range map[string]struct {
		reason string
		value  map[string]any
		want   []string
	}{
		"None":       {"Nobody may.", map[string]any{}, nil},
		"List":       {"By name.", map[string]any{"list": []any{"team-a", "team-b"}}, nil},
		"Selector":   {"By labels.", map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"tier": "gold"}}}, nil},
		"NoName":     {"No namespace has that name.", map[string]any{"list": []any{"Team_A"}}, []string{path + ".list", "should match"}},
		"Twice":      {"Once is enough.", map[string]any{"list": []any{"a", "a"}}, []string{path + ".list", "Duplicate"}},
		"ManyLabels": {"A selector has an end.", map[string]any{"selector": map[string]any{"matchLabels": labels}}, []string{path + ".selector", "at most 64 matchLabels"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.Create(t.Context(), with(t, configs["Cluster"], path, tc.value), client.DryRunAll, client.FieldValidation("Strict"))
			if tc.want == nil && err != nil {
				t.Errorf("%s\nCreate(...): %v", tc.reason, err)
			}
			if tc.want != nil {
				refused(t, tc.reason, err, tc.want...)
			}
		})
	}

	err := c.Create(t.Context(), with(t, configs["Namespaced"], path, map[string]any{}), client.DryRunAll, client.FieldValidation("Strict"))
	refused(t, "A ProviderConfig is for its own namespace.", err, "allowedNamespaces")
}
