// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package advisoragent

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/advisor"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
)

// realWorld is two real clusters with the controller.
type realWorld struct {
	*insidetest.Clusters

	t *testing.T
}

func runReal(t *testing.T) realWorld {
	t.Helper()

	features := &feature.Flags{}
	features.Enable(feature.EnableBetaManagementPolicies)

	return realWorld{t: t, Clusters: insidetest.RunClusters(t, func(mgr ctrl.Manager) error {
		return Setup(mgr, Options{
			Options: controller.Options{
				Logger: logging.NewNopLogger(), GlobalRateLimiter: ratelimiter.NewGlobal(100),
				PollInterval: time.Hour, MaxConcurrentReconciles: 4, Features: features,
			},
			Pool: tenantapi.NewPool(),
		})
	})}
}

// create an AdvisorAgent.
func (r realWorld) create(name string) *v1alpha1.AdvisorAgent {
	a := insidetest.New(insidetest.Agent(name))
	r.Must(r.Kube.Create(r.t.Context(), a))

	return a
}

// made is everything that an AdvisorAgent makes.
func made() []client.Object {
	named := metav1.ObjectMeta{Name: advisor.Name}
	inIts := metav1.ObjectMeta{Namespace: advisor.Namespace, Name: advisor.Name}

	return []client.Object{
		namespace(), &rbacv1.ClusterRole{ObjectMeta: named}, &rbacv1.ClusterRoleBinding{ObjectMeta: named},
		&corev1.ServiceAccount{ObjectMeta: inIts}, &corev1.Service{ObjectMeta: inIts}, theDeployment(),
	}
}

// bringUp is what the controllers of a vCluster do with the Deployment.
func (r realWorld) bringUp() {
	d := theDeployment()
	r.Must(r.Inside.Get(r.t.Context(), client.ObjectKeyFromObject(d), d))

	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.GetGeneration(), Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
	}
	r.Must(r.Inside.Status().Update(r.t.Context(), d))
}

func (r realWorld) awaitReady(a *v1alpha1.AdvisorAgent) time.Duration {
	return r.Await(r.Kube, a, "it is not Ready", func() bool { return a.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue })
}

func (r realWorld) awaitMessage(a *v1alpha1.AdvisorAgent, says string) time.Duration {
	return r.Await(r.Kube, a, "it does not say "+says, func() bool { return strings.Contains(a.Status.Message, says) })
}

// TestLifecycle follows AdvisorAgents from their first pass to their deletion.
func TestLifecycle(t *testing.T) {
	r := runReal(t)

	example := &v1alpha1.AdvisorAgent{}
	r.Example("advisoragent/agent.yaml", example)

	if tn, _ := inside.TenantOf(example); tn != client.ObjectKeyFromObject(r.Tenant()) {
		t.Errorf("the example is for Tenant %q", tn)
	}

	a := r.create("a")
	r.awaitMessage(a, "is not available: 0 of 1 pods are ready")

	// It is woken by its Deployment, and not by its poll.
	r.bringUp()

	if took := r.awaitReady(a); took > 10*time.Second {
		t.Errorf("it took %s to learn that the Deployment is available", took)
	}

	t.Run("WritesNothingTwice", func(t *testing.T) { r.writesNothingTwice(t, a) })
	t.Run("Repairs", func(t *testing.T) { r.repairs(t, a) })
	t.Run("StaysReadyWhenAChangeIsRefused", func(t *testing.T) { r.staysReady(t, a) })

	b := r.create("b")
	t.Run("TakesOverFromTheFirst", func(t *testing.T) { r.takesOver(t, a, b) })
	t.Run("WakesWithItsTenant", func(t *testing.T) { r.wakesWithItsTenant(t, b) })
	t.Run("GoesWithItsTenant", func(t *testing.T) { r.goesWithItsTenant(t, b) })
}

func (r realWorld) writesNothingTwice(t *testing.T, a *v1alpha1.AdvisorAgent) {
	t.Helper()

	before, status := r.Versions(made()...), a.Status.DeepCopy()

	for range 3 {
		r.Pass(a)
	}

	if diff := cmp.Diff(before, r.Versions(made()...)); diff != "" {
		t.Errorf("a pass wrote: %s", diff)
	}

	a.Status.SetLastHandledReconcileAt(status.GetLastHandledReconcileAt())

	if diff := cmp.Diff(status, &a.Status); diff != "" {
		t.Errorf("the status moved: %s", diff)
	}
}

func (r realWorld) repairs(t *testing.T, a *v1alpha1.AdvisorAgent) {
	t.Helper()

	d := theDeployment()
	r.Must(r.Inside.Get(t.Context(), client.ObjectKeyFromObject(d), d))

	d.Spec.Replicas = ptr.To[int32](3)
	r.Must(r.Inside.Update(t.Context(), d))
	r.Must(r.Inside.Delete(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: advisor.Name}}))
	r.Pass(a)
	r.Versions(made()...)

	if r.Must(r.Inside.Get(t.Context(), client.ObjectKeyFromObject(d), d)); *d.Spec.Replicas != 1 {
		t.Errorf("%d replicas", *d.Spec.Replicas)
	}

	r.bringUp()
	r.awaitReady(a)
}

// staysReady holds that a refused change is told, without its values.
func (r realWorld) staysReady(t *testing.T, a *v1alpha1.AdvisorAgent) {
	t.Helper()

	r.Must(r.Kube.Get(t.Context(), client.ObjectKeyFromObject(a), a))

	a.Spec.Env = []corev1.EnvVar{{Name: "not a name=", Value: "top-secret-value"}}
	r.Must(r.Kube.Update(t.Context(), a))
	r.awaitMessage(a, "App Advisor ready; a change failed: cannot write Deployment")

	if strings.Contains(a.Status.Message, "top-secret-value") {
		t.Errorf("the message quotes a value: %s", a.Status.Message)
	}

	a.Spec.Env = nil
	r.Must(r.Kube.Update(t.Context(), a))
	r.Await(r.Kube, a, "it does not recover", func() bool { return a.Status.Message == messageReady })
}

// takesOver holds that b waits for a to be gone, is woken then, and finds everything
// in place.
func (r realWorld) takesOver(t *testing.T, a, b *v1alpha1.AdvisorAgent) {
	t.Helper()

	r.awaitMessage(b, `belongs to AdvisorAgent "kubeopera-system/a"`)

	ns := namespace()
	r.Must(r.Inside.Get(t.Context(), client.ObjectKeyFromObject(ns), ns))
	was := ns.GetUID()

	r.Must(r.Kube.Delete(t.Context(), a))
	r.Await(r.Kube, a, "it is still there", nil)

	// What is its own in the Deployment rolls out.
	if took := r.awaitMessage(b, "is not available"); took > 10*time.Second {
		t.Errorf("it took %s to learn that the other is gone", took)
	}

	r.bringUp()
	r.awaitReady(b)

	r.Must(r.Inside.Get(t.Context(), client.ObjectKeyFromObject(ns), ns))

	if ns.Labels[inside.LabelOwnerUID] != string(b.GetUID()) || ns.GetUID() != was || ns.GetDeletionTimestamp() != nil {
		t.Errorf("it belongs to %v, and was %s", ns.ObjectMeta, was)
	}
}

// wakesWithItsTenant holds that news of the Tenant wakes it.
func (r realWorld) wakesWithItsTenant(t *testing.T, b *v1alpha1.AdvisorAgent) {
	t.Helper()

	set := func(s corev1.ConditionStatus) {
		tn := r.Tenant()
		tn.SetConditions(xpv2.Condition{Type: v1alpha1.TypeAPIReachable, Status: s, Reason: "x", LastTransitionTime: metav1.Now()})
		r.Must(r.Kube.Status().Update(r.t.Context(), tn))
	}

	set(corev1.ConditionFalse)
	r.awaitMessage(b, "the tenant's API cannot be reached")
	set(corev1.ConditionTrue)
	r.Await(r.Kube, b, "it is not looked at again", func() bool { return b.Status.Message == messageReady })
}

// goesWithItsTenant holds that it does not wait for ever inside a vCluster that is dead
// and going.
func (r realWorld) goesWithItsTenant(t *testing.T, b *v1alpha1.AdvisorAgent) {
	t.Helper()

	tn := r.Tenant()
	dead := insidetest.Secret(tn, insidetest.KubeconfigOf(&rest.Config{Host: "https://127.0.0.1:1", BearerToken: "t", TLSClientConfig: rest.TLSClientConfig{CAData: r.CA()}}))
	r.Must(r.Kube.Delete(r.t.Context(), dead.DeepCopy()))
	r.Must(r.Kube.Create(r.t.Context(), dead))

	tn.SetFinalizers([]string{"kubeopera.io/test"})
	r.Must(r.Kube.Update(r.t.Context(), tn))
	r.Must(r.Kube.Delete(r.t.Context(), tn))
	r.awaitMessage(b, "the Tenant is being deleted")

	begin := time.Now()

	r.Must(r.Kube.Delete(r.t.Context(), b))
	r.awaitMessage(b, "connection refused")
	r.Await(r.Kube, b, "it is still there", nil)

	if took := time.Since(begin); took < 12*time.Second || took > 20*time.Second {
		t.Errorf("it went after %s", took)
	}
}
