// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantquota

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
	"github.com/kubeopera/provider-kubeopera/internal/glance"
)

// world is where TenantQuotas are.
type world struct {
	*insidetest.World[*v1alpha1.TenantQuota]
}

// newWorld has the given objects beside the Tenants.
func newWorld(t *testing.T, objs ...client.Object) *world {
	t.Helper()

	kube := insidetest.NewKube(inside.IndexTenant, inside.TenantNameOf, objs...)
	w := &world{World: insidetest.NewWorld(t, kube, func() *v1alpha1.TenantQuota { return &v1alpha1.TenantQuota{} })}
	w.Reconciler = func() reconcile.Reconciler {
		c := inside.Controller{Kube: w.Kube, Live: w.Kube, Looks: glance.NewMemory(w.Clock), Open: w.Open, Record: w.Events, Clock: w.Clock, Waker: w.Waker}
		return inside.NewReconciler(w.Manager(), kind, c, handler{}, w.Options())
	}

	w.makeNamespaces(metav1.NamespaceDefault)

	return w
}

// arrive brings the TenantQuota to Ready.
func (w *world) arrive(name string) {
	w.T.Helper()

	w.Reconcile(name)

	w.Expect(w.Reconcile(name), xpv2.ReasonAvailable, messageReady)
	w.VCluster.Writes()
}

// makeNamespaces inside the vCluster.
func (w *world) makeNamespaces(names ...string) {
	w.T.Helper()

	for _, n := range names {
		ns := &corev1.Namespace{}
		ns.SetName(n)
		w.Must(w.VCluster.Create(w.T.Context(), ns))
	}

	w.VCluster.Writes()
}

func quotaIn(namespace string) *corev1.ResourceQuota {
	q := &corev1.ResourceQuota{}
	q.SetNamespace(namespace)
	q.SetName(name)

	return q
}

func limitsIn(namespace string) *corev1.LimitRange {
	l := &corev1.LimitRange{}
	l.SetNamespace(namespace)
	l.SetName(name)

	return l
}
