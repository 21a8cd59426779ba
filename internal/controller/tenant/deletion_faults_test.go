// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// deleting is a Tenant that was Ready and is asked to go, with what reconciles it.
func deleting(t *testing.T) (*world, *managed.Reconciler) {
	t.Helper()

	tn := alice().Obj()
	w := newWorld(t, tn.DeepCopy())
	r := w.reconciler()
	w.reconcile(r)
	w.bringUp(tn)

	if stored, _ := w.reconcile(r); stored.Status.Phase != v1alpha1.PhaseReady {
		t.Fatalf("%s: %s", stored.Status.Phase, stored.Status.Message)
	}

	w.clock.SetTime(time.Now()) // The fake API server says when it was asked to go.
	w.remove(w.kube, read[*v1alpha1.Tenant](w, w.kube, aliceKey.Namespace, aliceKey.Name))

	return w, r
}

// namespaceSays has the host namespace say what is the matter, as the namespace
// controller does.
func (w *world) namespaceSays(c corev1.NamespaceConditionType, message string) {
	w.t.Helper()

	changeStatus(w, w.host, "", aliceNamespace, func(ns *corev1.Namespace) {
		ns.Status.Conditions = append(ns.Status.Conditions, corev1.NamespaceCondition{Type: c, Status: corev1.ConditionTrue, Message: message})
	})
}

// reconcileUntil reconciles until the host namespace is asked to go.
func (w *world) reconcileUntilNamespaceGoes(r *managed.Reconciler) {
	w.t.Helper()

	for range 5 {
		if read[*corev1.Namespace](w, w.host, "", aliceNamespace).GetDeletionTimestamp() != nil {
			return
		}

		w.reconcile(r)
	}

	w.t.Fatal("the namespace is not asked to go")
}

// reconcileUntilGone reconciles until the Tenant is gone.
func (w *world) reconcileUntilGone(r *managed.Reconciler) {
	w.t.Helper()

	for range 10 {
		if tn, _ := w.reconcile(r); tn == nil {
			return
		}
	}

	w.t.Fatalf("it never goes: %s", read[*v1alpha1.Tenant](w, w.kube, aliceKey.Namespace, aliceKey.Name).Status.Message)
}

// TestD1HeldClaim holds that a Tenant stays for an hour, and as long as it takes, while a
// volume claim holds its namespace, says which and what holds that, calls a person after
// 15 minutes, and goes only when the API server has said that the namespace is gone.
func TestD1HeldClaim(t *testing.T) {
	t.Parallel()

	const held = "PersistentVolumeClaim " + leftClaim + ", finalizer kubernetes.io/pvc-protection"

	w, r := deleting(t)
	claim := claimOf("vc-alice-default")
	claim.SetFinalizers([]string{"kubernetes.io/pvc-protection"})
	w.add(claim)
	hold[*corev1.Namespace](w, aliceNamespace)
	w.reconcileUntilNamespaceGoes(r)
	w.remove(w.host, claim)
	w.namespaceSays(corev1.NamespaceContentRemaining, "Some resources are remaining: persistentvolumeclaims. has 1 resource instances")
	w.namespaceSays(corev1.NamespaceFinalizersRemaining, "Some content in the namespace has finalizers remaining: kubernetes.io/pvc-protection in 1 resource instances")

	began := read[*v1alpha1.Tenant](w, w.kube, aliceKey.Namespace, aliceKey.Name).GetDeletionTimestamp().Time

	for at := time.Duration(0); at <= time.Hour; at += 5 * time.Minute {
		w.clock.SetTime(began.Add(at))

		tn, _ := w.reconcile(r)
		if tn == nil || tn.Status.Phase != v1alpha1.PhaseDeleting || !strings.Contains(tn.Status.Message, held) {
			t.Fatalf("at %s: %+v", at, tn)
		}

		c := tn.GetCondition(v1alpha1.TypeStalled)
		if stalled := at >= 15*time.Minute; stalled != (c.Status == corev1.ConditionTrue) || stalled != strings.Contains(c.Message, held) ||
			w.events.count(reasonStalled) != map[bool]int{true: 1}[stalled] {
			t.Errorf("at %s: Stalled is %s: %s, events %v", at, c.Status, c.Message, w.events.reasons())
		}
	}

	change(w, w.host, aliceNamespace, leftClaim, func(c *corev1.PersistentVolumeClaim) { c.SetFinalizers(nil) })
	letGo[*corev1.Namespace](w, aliceNamespace)

	for _, cannot := range []string{"get Namespace " + aliceNamespace, "helm get vc-alice-default", "list *v1.PersistentVolumeList"} {
		w.reads.failOn = cannot

		if tn, _ := w.reconcile(r); tn == nil || tn.Status.Phase != v1alpha1.PhaseDeleting {
			t.Fatalf("it goes without a proof, since it cannot %s", cannot)
		}
	}

	w.reads.failOn = ""
	w.reconcileUntilGone(r)
}

// TestD2DeadAPIService holds that what keeps a namespace from being emptied is told in
// Kubernetes' own words, in a condition and in the message.
func TestD2DeadAPIService(t *testing.T) {
	t.Parallel()

	const text = "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1: stale GroupVersion discovery: metrics.k8s.io/v1beta1"

	w, r := deleting(t)
	hold[*corev1.Namespace](w, aliceNamespace)
	w.reconcileUntilNamespaceGoes(r)
	w.namespaceSays(corev1.NamespaceDeletionDiscoveryFailure, text)

	tn, _ := w.reconcile(r)
	if c := tn.GetCondition(v1alpha1.TypeBoundaryReady); c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, text) || !strings.Contains(tn.Status.Message, text) {
		t.Errorf("%s: the condition says %q, the message %q", tn.Status.Phase, c.Message, tn.Status.Message)
	}
}

// onWorld connects as the provider does, to a host that is the world's.
type onWorld struct {
	w *world
	c *connector
}

func (o *onWorld) Connect(ctx context.Context, t *v1alpha1.Tenant) (managed.TypedExternalClient[*v1alpha1.Tenant], error) {
	if _, err := o.c.Connect(ctx, t); err != nil {
		return nil, err
	}

	return o.w.external(t), nil
}

// TestD3NamespaceOfTheTenantGoes holds that a Tenant goes with its whole namespace: the
// ProviderConfig, its Secret and the kubeconfig are gone, and nothing can be created.
func TestD3NamespaceOfTheTenantGoes(t *testing.T) {
	t.Parallel()

	own, _ := fakeHost(t)
	pc := localConfig(tenantNamespace, func(s *v1alpha1.ProviderConfigSpec) {
		s.Credentials = v1alpha1.LocalCredentials{Source: xpv2.CredentialsSourceSecret, SecretRef: &xpv2.LocalSecretKeySelector{
			LocalSecretReference: xpv2.LocalSecretReference{Name: "host"}, Key: "kubeconfig",
		}}
	})
	credentials := secretIn(tenantNamespace, "host", "kubeconfig", kubeconfigOf(t, own.URL))
	credentials.SetUID("uid-secret")

	tn := alice().WithFlux("").Advisor("advisor:v1").Config("ProviderConfig", "default").Obj()
	w := newWorld(t, tn.DeepCopy(), pc, credentials)
	c := connectTo(w, own.URL)
	r := w.reconcilerBy(&onWorld{w, c})
	w.reconcile(r)
	w.bringUp(tn)
	w.reconcile(r)

	terminating := kerrors.NewForbidden(schema.GroupResource{Resource: "any"}, "any", errInjected)
	c.track = func(context.Context, client.Client, resource.ModernManaged) error { return terminating }
	w.refuseWrites = func(action string) error {
		if strings.HasPrefix(action, "kube create ") {
			return terminating
		}

		return nil
	}

	for _, o := range []client.Object{
		read[*v1alpha1.Tenant](w, w.kube, tenantNamespace, tn.GetName()), pc, credentials, read[*corev1.Secret](w, w.kube, tenantNamespace, publishedName),
		read[*v1alpha1.AdvisorAgent](w, w.kube, tenantNamespace, tn.GetName()), read[*v1alpha1.TenantQuota](w, w.kube, tenantNamespace, tn.GetName()),
	} {
		w.remove(w.kube, o)
	}

	w.clock.SetTime(time.Now())
	w.reconcileUntilGone(r)

	if w.helm.release != nil || has[*corev1.Namespace](w, w.host, "", aliceNamespace) {
		t.Errorf("something is left on the host: release %v", w.helm.release)
	}
}

// TestD13ClusterScopedLeftovers holds that the finalizer stays until each object outside
// of the namespace that was made for the release is absent.
func TestD13ClusterScopedLeftovers(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		object func(ours []client.Object) client.Object
		letGo  func(*world)
	}{
		"ClusterRole":        {func(o []client.Object) client.Object { return o[0] }, func(w *world) { letGo[*rbacv1.ClusterRole](w, roleName) }},
		"ClusterRoleBinding": {func(o []client.Object) client.Object { return o[1] }, func(w *world) { letGo[*rbacv1.ClusterRoleBinding](w, roleName) }},
		"PriorityClass":      {func(o []client.Object) client.Object { return o[2] }, func(w *world) { letGo[*schedulingv1.PriorityClass](w, "synced") }},
		"StorageClass":       {func(o []client.Object) client.Object { return o[3] }, func(w *world) { letGo[*storagev1.StorageClass](w, "synced") }},
	}
	for kind, tc := range cases {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()

			w, r := deleting(t)
			ours, _ := clusterScoped(namesOf(alice().Obj()))
			left := tc.object(ours)
			w.add(left) // With a finalizer, so that it does not go when it is asked to.

			for range 10 {
				tn, _ := w.reconcile(r)
				if tn == nil || !meta.FinalizerExists(tn, managed.FinalizerName) {
					t.Fatal("the Tenant is gone, and something of its release is not")
				}
			}

			tn := read[*v1alpha1.Tenant](w, w.kube, aliceKey.Namespace, aliceKey.Name)
			if want := kind + " " + left.GetName() + ", finalizer test/hold"; !strings.Contains(tn.Status.Message, want) || has[*corev1.Namespace](w, w.host, "", aliceNamespace) {
				t.Errorf("the message does not say %q: %s", want, tn.Status.Message)
			}

			tc.letGo(w)
			w.reconcileUntilGone(r)
		})
	}
}
