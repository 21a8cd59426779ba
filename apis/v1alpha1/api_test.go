// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package v1alpha1_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubeopera/provider-kubeopera/internal/testenv"
)

// TestAPI holds the CRDs against a real API server, which also refuses rules
// that would cost too much to evaluate.
func TestAPI(t *testing.T) {
	cluster := testenv.RunControlPlane(t, "package/crds")
	c, err := client.New(cluster, client.Options{})
	if err != nil {
		t.Fatalf("client.New(...): %v", err)
	}
	for _, name := range []string{"kubeopera-system", "team-alice"} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := c.Create(t.Context(), ns); err != nil {
			t.Fatalf("Create(namespace): %v", err)
		}
	}

	for name, test := range map[string]func(*testing.T, client.Client){
		"TenantManifest":       testTenantManifest,
		"TenantDefaults":       testTenantDefaults,
		"TenantAccepted":       testTenantAccepted,
		"TenantRefused":        testTenantRefused,
		"TenantImmutable":      testTenantImmutable,
		"TenantStatus":         testTenantStatus,
		"ProviderConfig":       testProviderConfig,
		"ProviderConfigOrigin": testProviderConfigOrigin,
		"ProviderConfigBad":    testProviderConfigRefused,
		"AllowedNamespaces":    testAllowedNamespaces,
		"Isolation":            testIsolation,
		"Usage":                testUsage,
		"AdvisorAgent":         testAdvisorAgent,
		"TenantQuota":          testTenantQuota,
		"ManagementPolicies":   testManagementPolicies,
		"Examples":             testExamples,
	} {
		t.Run(name, func(t *testing.T) { test(t, c) })
	}
}

// object is any object, as people write it.
type object = unstructured.Unstructured

// tenant is the Tenant as people write and read it, status included.
func tenant(t *testing.T) *object {
	t.Helper()
	const file = "testdata/tenant.yaml"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("os.ReadFile(%q): %v", file, err)
	}
	u := &object{}
	if err := yaml.Unmarshal(b, &u.Object); err != nil {
		t.Fatalf("yaml.Unmarshal(%q): %v", file, err)
	}
	return u
}

// with returns a copy of the object with the value at the path, which has dots
// between its fields. A nil value removes the field.
func with(t *testing.T, u *object, path string, value any) *object {
	t.Helper()
	out := u.DeepCopy()
	fields := strings.Split(path, ".")
	if value == nil {
		unstructured.RemoveNestedField(out.Object, fields...)
		return out
	}
	if err := unstructured.SetNestedField(out.Object, value, fields...); err != nil {
		t.Fatalf("SetNestedField(%q): %v", path, err)
	}
	return out
}

// create creates the object and has it deleted at the end of the test.
func create(t *testing.T, c client.Client, u *object) {
	t.Helper()
	if err := c.Create(t.Context(), u); err != nil {
		t.Fatalf("Create(%s %q): %v", u.GetKind(), u.GetName(), err)
	}
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(c.Delete(context.WithoutCancel(t.Context()), u)); err != nil {
			t.Errorf("Delete(%s %q): %v", u.GetKind(), u.GetName(), err)
		}
	})
}

// refused fails the test unless err holds each of the texts.
func refused(t *testing.T, reason string, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s\naccepted, want refused with %q", reason, want)
		return
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s\nwant error with %q, got: %v", reason, w, err)
		}
	}
}

// equal fails the test unless the field has the value.
func equal(t *testing.T, reason string, u *object, path string, want any) {
	t.Helper()
	got, _, err := unstructured.NestedFieldNoCopy(u.Object, strings.Split(path, ".")...)
	if err != nil {
		t.Fatalf("NestedFieldNoCopy(%q): %v", path, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%s: -want, +got:\n%s", reason, path, diff)
	}
}
