// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package config

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/providerconfig"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler/reconcilertest"
	"github.com/kubeopera/provider-kubeopera/internal/testenv"
)

const patience = 30 * time.Second

// Three configurations share one name. Tenants in two namespaces use them, and
// each may count only its own.
func TestUsage(t *testing.T) {
	c := run(t)

	cluster := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	inA := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: "a"}}
	inB := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: "b"}}
	other := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "other"}}
	for _, o := range []client.Object{namespace("a"), namespace("b"), cluster, inA, inB, other} {
		create(t, c, o)
	}

	clusterA := use(t, c, "a", "one", "ClusterProviderConfig")
	clusterB := use(t, c, "b", "two", "ClusterProviderConfig")
	onlyA := use(t, c, "a", "three", "ProviderConfig")

	users(t, c, "A cluster's configuration counts the usages of every namespace.", cluster, 2)
	users(t, c, "A namespace's configuration counts the usages of its namespace and kind.", inA, 1)
	users(t, c, "Usages of another namespace, and of a cluster's configuration of that name, are not its.", inB, 0)
	users(t, c, "A configuration of another name has none.", other, 0)

	remove(t, c, inB)
	gone(t, c, "What nobody uses goes, whatever else has its name.", inB)

	remove(t, c, cluster)
	remove(t, c, inA)
	blocked(t, c, "What is in use stays.", cluster)
	blocked(t, c, "What is in use stays.", inA)

	remove(t, c, onlyA)
	gone(t, c, "It goes with its last usage.", inA)
	remove(t, c, clusterA)
	users(t, c, "A usage in another namespace is left.", cluster, 1)
	blocked(t, c, "One usage is enough to stay.", cluster)
	remove(t, c, clusterB)
	gone(t, c, "It goes with its last usage.", cluster)
}

// A configuration that is deleted while Tenants use it goes with the last of them: a
// usage is owned by its Tenant, with which Kubernetes collects it.
func TestD10LastTenantGoes(t *testing.T) {
	c := run(t)

	config := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: "a"}}
	create(t, c, namespace("a"))
	create(t, c, config)

	names := []string{"one", "two"}
	for _, name := range names {
		use(t, c, "a", name, "ProviderConfig")
	}

	users(t, c, "Each Tenant counts.", config, 2)
	remove(t, c, config)

	for _, name := range names {
		blocked(t, c, "It stays as long as one uses it.", config)
		remove(t, c, &v1alpha1.Tenant{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "a"}})
		collect(t, c)
	}

	gone(t, c, "It goes with the last Tenant.", config)
}

// collect what is owned by a Tenant that is gone, as Kubernetes does.
func collect(t *testing.T, c client.Client) {
	t.Helper()

	tenants, usages := &v1alpha1.TenantList{}, &v1alpha1.ProviderConfigUsageList{}
	for _, l := range []client.ObjectList{tenants, usages} {
		if err := c.List(t.Context(), l); err != nil {
			t.Fatalf("List(%T): %v", l, err)
		}
	}

	for i := range usages.Items {
		u := &usages.Items[i]
		if owner := metav1.GetControllerOf(u); owner != nil && owner.Kind == "Tenant" &&
			!slices.ContainsFunc(tenants.Items, func(tn v1alpha1.Tenant) bool { return tn.GetUID() == owner.UID }) {
			remove(t, c, u)
		}
	}
}

// A usage that nobody owns, as a backup restores it, must not hold a
// configuration for ever.
func TestOrphanedUsage(t *testing.T) {
	c := run(t)

	config := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	create(t, c, namespace("a"))
	create(t, c, config)
	usage := use(t, c, "a", "one", "ClusterProviderConfig")
	users(t, c, "A usage counts as long as it has an owner.", config, 1)

	usage.SetOwnerReferences(nil)
	if err := c.Update(t.Context(), usage); err != nil {
		t.Fatalf("Update(usage): %v", err)
	}
	gone(t, c, "A usage without owner is removed.", usage)
	users(t, c, "A usage without owner does not count.", config, 0)
}

// run runs the controllers against an API server of their own.
func run(t *testing.T) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatalf("AddToScheme(...): %v", err)
		}
	}
	skip := true
	o := ctrl.Options{
		Scheme:  scheme,
		Logger:  zap.New(zap.WriteTo(t.Output())),
		Metrics: metricsserver.Options{BindAddress: "0"},
	}
	o.Controller.SkipNameValidation = &skip
	mgr, err := ctrl.NewManager(testenv.RunControlPlane(t, "package/crds"), o)
	if err != nil {
		t.Fatalf("NewManager(...): %v", err)
	}
	if err := Setup(mgr, controller.DefaultOptions()); err != nil {
		t.Fatalf("Setup(...): %v", err)
	}

	reconcilertest.Start(t, mgr)

	// Reads past the cache, so that a test sees what is there.
	c, err := client.New(mgr.GetConfig(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatalf("client.New(...): %v", err)
	}
	return c
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func create(t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), o); err != nil {
		t.Fatalf("Create(%T %q): %v", o, o.GetName(), err)
	}
}

func remove(t *testing.T, c client.Client, o client.Object) {
	t.Helper()
	if err := c.Delete(t.Context(), o); err != nil {
		t.Fatalf("Delete(%T %q): %v", o, o.GetName(), err)
	}
}

// use creates a Tenant and has Crossplane's own tracker record that it uses the
// configuration named default of the kind.
func use(t *testing.T, c client.Client, ns, name, kind string) *v1alpha1.ProviderConfigUsage {
	t.Helper()
	mg := &v1alpha1.Tenant{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns},
		Spec: v1alpha1.TenantSpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{
				ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: kind, Name: "default"},
			},
			UserID: "alice", TenantName: name, CloudSpaceID: name,
		},
	}
	create(t, c, mg)
	mg.SetGroupVersionKind(v1alpha1.TenantGroupVersionKind)

	tracker := resource.NewProviderConfigUsageTracker(c, &v1alpha1.ProviderConfigUsage{})
	if err := tracker.Track(t.Context(), mg); err != nil {
		t.Fatalf("Track(%q): %v", name, err)
	}
	usage := &v1alpha1.ProviderConfigUsage{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: string(mg.GetUID())}, usage); err != nil {
		t.Fatalf("Get(usage of %q): %v", name, err)
	}
	return usage
}

// eventually waits until the object, read anew each time, is as it should be.
func eventually(t *testing.T, c client.Client, reason string, o client.Object, ok func(error) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(o), o)
		if err != nil && !kerrors.IsNotFound(err) {
			return false, err
		}
		return ok(err), nil
	})
	if err != nil {
		t.Fatalf("%s\n%T %s/%s: %v; it is %+v", reason, o, o.GetNamespace(), o.GetName(), err, o)
	}
}

// users waits until the configuration has seen its creation and counts so many.
func users(t *testing.T, c client.Client, reason string, o resource.ProviderConfig, want int64) {
	t.Helper()
	eventually(t, c, reason, o, func(err error) bool {
		return err == nil && len(o.GetFinalizers()) > 0 && o.GetUsers() == want
	})
}

func gone(t *testing.T, c client.Client, reason string, o client.Object) {
	t.Helper()
	eventually(t, c, reason, o, kerrors.IsNotFound)
}

// blocked waits until the configuration says why it is still there.
func blocked(t *testing.T, c client.Client, reason string, o resource.ProviderConfig) {
	t.Helper()
	eventually(t, c, reason, o, func(err error) bool {
		cond := o.GetCondition(providerconfig.TypeTerminating)
		return err == nil && cond.Status == corev1.ConditionTrue && cond.Reason == providerconfig.ReasonInUse
	})
}
