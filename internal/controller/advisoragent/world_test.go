// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisoragent

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/advisor"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
	"github.com/kubeopera/provider-kubeopera/internal/glance"
)

// world is where AdvisorAgents are.
type world struct {
	*insidetest.World[*v1alpha1.AdvisorAgent]

	image string
}

// newWorld has the given objects beside the Tenants.
func newWorld(t *testing.T, objs ...client.Object) *world {
	t.Helper()

	kube := insidetest.NewKube(inside.IndexTenant, inside.TenantNameOf, objs...)
	w := &world{World: insidetest.NewWorld(t, kube, func() *v1alpha1.AdvisorAgent { return &v1alpha1.AdvisorAgent{} })}
	w.Reconciler = func() reconcile.Reconciler {
		c := inside.Controller{Kube: w.Kube, Live: w.Kube, Looks: glance.NewMemory(w.Clock), Open: w.Open, Record: w.Events, Clock: w.Clock, Waker: w.Waker}
		return inside.NewReconciler(w.Manager(), kind, c, handler{defaultImage: w.image}, w.Options())
	}

	return w
}

// arrive brings the AdvisorAgent a to Ready.
func (w *world) arrive() *v1alpha1.AdvisorAgent {
	w.T.Helper()

	w.Reconcile("a")
	w.bringUp()

	a := w.Reconcile("a")
	w.Expect(a, xpv2.ReasonAvailable, messageReady)
	w.VCluster.Writes()

	return a
}

// bringUp is what a vCluster does with the Deployment.
func (w *world) bringUp() {
	w.T.Helper()

	d := &appsv1.Deployment{}
	w.Must(w.VCluster.Get(w.T.Context(), client.ObjectKey{Namespace: advisor.Namespace, Name: advisor.Name}, d))

	n := *d.Spec.Replicas
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.GetGeneration(), Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
	}
	w.Must(w.VCluster.Status().Update(w.T.Context(), d))
}

func namespace() *corev1.Namespace {
	ns := &corev1.Namespace{}
	ns.SetName(advisor.Namespace)

	return ns
}

func theDeployment() *appsv1.Deployment {
	d := &appsv1.Deployment{}
	d.SetNamespace(advisor.Namespace)
	d.SetName(advisor.Name)

	return d
}
