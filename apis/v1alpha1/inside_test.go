// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package v1alpha1_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inside is an object that names the Tenant of the documentation.
func inside(kind string, spec map[string]any) *object {
	spec["tenantRef"] = map[string]any{"name": "alice-default"}

	return &object{Object: map[string]any{
		"apiVersion": "kubeopera.io/v1alpha1", "kind": kind,
		"metadata": map[string]any{"name": "alice", "namespace": "kubeopera-system"},
		"spec":     spec,
	}}
}

func testAdvisorAgent(t *testing.T, c client.Client) {
	u := inside("AdvisorAgent", map[string]any{})
	create(t, c, u)
	equal(t, "One pod runs unless more are asked for.", u, "spec.replicas", int64(1))

	err := c.Update(t.Context(), with(t, u, "spec.tenantRef.name", "other"), client.DryRunAll)
	refused(t, "What was made inside one Tenant cannot move to another.", err, "tenantRef is immutable")

	for name, tc := range map[string]struct {
		reason, path string
		value        any
		want         []string
	}{
		"NoTenant":  {"It runs inside a Tenant.", "spec.tenantRef", nil, []string{"spec.tenantRef", "Required"}},
		"NoName":    {"The Tenant has a name.", "spec.tenantRef.name", "", []string{"spec.tenantRef.name"}},
		"Namespace": {"The Tenant is beside it.", "spec.tenantRef.namespace", "other", []string{"spec.tenantRef.namespace"}},
		"Image":     {"It must be an image.", "spec.image", "; rm -rf /", []string{"spec.image", "image must be an image reference"}},
		"Negative":  {"Less than none is none.", "spec.replicas", int64(-1), []string{"spec.replicas", "0"}},
		"Many":      {"So many would take the host.", "spec.replicas", int64(11), []string{"spec.replicas", "10"}},
		"EnvTwice": {
			"One of the two would be lost.", "spec.env", []any{map[string]any{"name": "A"}, map[string]any{"name": "A"}}, []string{"spec.env", "Duplicate"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.Create(t.Context(), with(t, inside("AdvisorAgent", map[string]any{}), tc.path, tc.value), client.DryRunAll, client.FieldValidation("Strict"))
			refused(t, tc.reason, err, tc.want...)
		})
	}
}

func testTenantQuota(t *testing.T, c client.Client) {
	hard := func() map[string]any {
		return map[string]any{"hard": map[string]any{"limits.cpu": "2", "pods": int64(10)}}
	}
	u := inside("TenantQuota", hard())
	create(t, c, u)
	equal(t, "The customer begins in the namespace default.", u, "spec.namespaces", []any{"default"})

	err := c.Update(t.Context(), with(t, u, "spec.tenantRef.name", "other"), client.DryRunAll)
	refused(t, "What was made inside one Tenant cannot move to another.", err, "tenantRef is immutable")

	for name, tc := range map[string]struct {
		reason, path string
		value        any
		want         []string
	}{
		"NoHard":       {"A quota without a limit is none.", "spec.hard", nil, []string{"spec.hard", "Required"}},
		"EmptyHard":    {"A quota without a limit is none.", "spec.hard", map[string]any{}, []string{"spec.hard"}},
		"ForEver":      {"Who parses it works for years.", "spec.hard", map[string]any{"limits.cpu": "1e-999999999"}, []string{"spec.hard", "should match"}},
		"Words":        {"A limit is a quantity.", "spec.hard", map[string]any{"limits.cpu": "4 cores"}, []string{"spec.hard", "limits.cpu"}},
		"NoNamespaces": {"A quota is kept somewhere.", "spec.namespaces", []any{}, []string{"spec.namespaces", "1"}},
		"Twice":        {"A namespace has one.", "spec.namespaces", []any{"a", "a"}, []string{"spec.namespaces", "Duplicate"}},
		"BadName":      {"It must be a namespace's name.", "spec.namespaces", []any{"A_b"}, []string{"spec.namespaces"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.Create(t.Context(), with(t, inside("TenantQuota", hard()), tc.path, tc.value), client.DryRunAll, client.FieldValidation("Strict"))
			refused(t, tc.reason, err, tc.want...)
		})
	}
}
