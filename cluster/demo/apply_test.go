// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package main

import (
	"context"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/testenv"
)

// TestPrepare goes from a bare cluster to a Tenant and its kubeconfig, without
// the provider.
func TestPrepare(t *testing.T) {
	cluster := testenv.RunControlPlane(t)
	t.Chdir("../..")
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c, err := client.NewWithWatch(cluster, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatalf("NewWithWatch(...): %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	say := func(string, ...any) {}

	// Each is done twice: a demo works over the leftovers of another.
	for range 2 {
		if err := prepare(ctx, c, false, say); err != nil {
			t.Fatalf("prepare(...): %v", err)
		}
	}
	repository(t, c, "The example names no chart.", "")

	if err := prepare(ctx, c, true, say); err != nil {
		t.Fatalf("prepare(testbed): %v", err)
	}
	const own = "oci://10.89.0.1:5000/loft-sh/charts/vcluster"
	repository(t, c, "The test bed has a registry of its own.", own)

	if err := prepare(ctx, c, false, say); err != nil {
		t.Fatalf("prepare(...): %v", err)
	}
	repository(t, c, "An existing cluster keeps the configuration that it has.", own)

	var tenant *v1alpha1.Tenant
	for range 2 {
		var err error
		if tenant, err = applyTenant(ctx, c, "examples/tenant/tenant.yaml"); err != nil {
			t.Fatalf("applyTenant(...): %v", err)
		}
	}
	if tenant.Name != "alice-default" || tenant.Status.Phase != v1alpha1.PhasePending {
		t.Errorf("The Tenant is there as it was read back, got %+v", tenant)
	}
	refuses(ctx, t, c)
	saves(ctx, t, c, tenant)
}

// refuses proves that neither demo works over the other.
func refuses(ctx context.Context, t *testing.T, c client.WithWatch) {
	t.Helper()
	if err := checkInstalled(ctx, c, true); err == nil {
		t.Error("Crossplane does not take over what is installed from a clone.")
	}
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	if err := c.Get(ctx, client.ObjectKey{Name: "tenants.kubeopera.io"}, crd); err != nil {
		t.Fatal(err)
	}
	before := crd.DeepCopy()
	crd.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: "pkg.crossplane.io/v1", Kind: "ProviderRevision", Name: "provider", UID: "1", Controller: new(true),
	}})
	if err := c.Patch(ctx, crd, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	if err := checkInstalled(ctx, c, true); err != nil {
		t.Errorf("What Crossplane has installed is shown again, got %v", err)
	}
	if err := prepare(ctx, c, false, func(string, ...any) {}); err == nil {
		t.Error("No provider is run beside that of Crossplane.")
	}
}

func repository(t *testing.T, c client.Client, reason, want string) {
	t.Helper()
	config := &v1alpha1.ClusterProviderConfig{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "default"}, config); err != nil {
		t.Fatalf("%s\nGet(...): %v", reason, err)
	}
	got := ""
	if config.Spec.Chart != nil {
		got = config.Spec.Chart.Repository
	}
	if got != want {
		t.Errorf("%s\nwant repository %q, got %q", reason, want, got)
	}
}

func saves(ctx context.Context, t *testing.T, c client.Client, tenant *v1alpha1.Tenant) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := save(ctx, c, tenant); err == nil {
		t.Error("A Tenant that names no Secret has no kubeconfig to save.")
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "published", Namespace: tenant.Namespace},
		Data:       map[string][]byte{"kubeconfig": []byte("clusters: []")},
	}
	if err := c.Create(ctx, secret); err != nil {
		t.Fatalf("Create(secret): %v", err)
	}
	tenant.Status.KubeconfigSecret = secret.Name
	file, _, err := save(ctx, c, tenant)
	if err != nil {
		t.Fatalf("save(...): %v", err)
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != "clusters: []" || file != ".demo/alice-default.kubeconfig" {
		t.Errorf("The file holds what was published, got %q in %s: %v", got, file, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("Nobody else may read it, got %v: %v", info.Mode(), err)
	}
}
