// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler/reconcilertest"
	"github.com/kubeopera/provider-kubeopera/internal/glance"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// many connects each Tenant to releases of its own, on one host.
type many struct {
	w  *world
	by map[types.UID]*fakeHelm
	// doomed says how the API of the one Tenant that is being deleted answers, if that has one.
	doomed func(context.Context) error
}

func (m *many) Connect(_ context.Context, t *v1alpha1.Tenant) (managed.TypedExternalClient[*v1alpha1.Tenant], error) {
	h, ok := m.by[t.GetUID()]
	if !ok {
		n := namesOf(t)
		h = m.w.newHelm(n.namespace, "", func() { // A host is as fast as it can be.
			for _, o := range []client.Object{controlPlane(n).Ready().Obj(), service(n), exported(n, kubeconfig("admin"))} {
				m.w.add(o)
			}
		})
		m.by[t.GetUID()] = h
	}

	e := m.w.external(t)
	e.helm = h.client()

	if m.doomed != nil && t.GetDeletionTimestamp() != nil {
		e.open = func(*vcluster.Kubeconfig) (*wayIn, error) {
			return &wayIn{probe: m.doomed}, nil
		}
	}

	return e, nil
}

// passLimit is more than any pass takes.
const passLimit = 30 * time.Second

// TestD7OneCannotGo holds that 20 healthy Tenants are made by the one worker there is
// while another one cannot be deleted.
func TestD7OneCannotGo(t *testing.T) {
	t.Parallel()

	t.Run("D7: its namespace does not go, and all that happens wakes it", func(t *testing.T) {
		t.Parallel()

		doomed := alice().Deleted(epoch).Obj()
		w, tenants := crowd(t, doomed, namespaceOf(doomed).Going(epoch).Obj())

		healthyAreMade(t, &many{w: w, by: map[types.UID]*fakeHelm{}}, tenants, true)
	})
	t.Run("D7: its release stays, with Flux in it, and its API hangs", func(t *testing.T) {
		t.Parallel()

		doomed, s := alice().WithFlux("").Deleted(epoch).Obj(), newTenantServer(t)
		s.after.Store(int64(time.Hour))

		n := namesOf(doomed)
		w, tenants := crowd(t, doomed, namespaceOf(doomed).Obj(), service(n), exported(n, kubeconfig("admin")),
			secretIn(tenantNamespace, n.secret, "kubeconfig", string(kubeconfig("admin"))))

		h := w.newHelm(n.namespace, manifest, func() {})
		h.release, h.stuck = releaseOf(doomed).Obj(), true

		var asked atomic.Bool
		c := &connector{tenants: hastyPool()}
		hangs := func(ctx context.Context) error {
			asked.Store(true)

			in, err := c.opener(doomed, &glance.Look{})(s.kubeconfig(t))
			if err != nil {
				return err
			}

			return in.probe(ctx)
		}

		healthyAreMade(t, &many{w: w, by: map[types.UID]*fakeHelm{doomed.GetUID(): h}, doomed: hangs}, tenants, false)

		if !asked.Load() {
			t.Error("the API that hangs was never asked")
		}
	})
}

// crowd are the doomed Tenant and 20 healthy ones, an hour after it was asked to go,
// and a world that has those and what is given.
func crowd(t *testing.T, doomed *v1alpha1.Tenant, objs ...client.Object) (*world, []*v1alpha1.Tenant) {
	t.Helper()

	tenants := []*v1alpha1.Tenant{doomed}

	for i := range 20 {
		b := bob().Named(fmt.Sprintf("healthy-%d", i)).ID(fmt.Sprintf("id-%d", i)).UID(fmt.Sprintf("uid-%d", i))
		b.Spec.TenantName = b.GetName()
		tenants = append(tenants, b.Obj())
	}

	for _, tn := range tenants {
		objs = append(objs, tn.DeepCopy())
	}

	w := newWorld(t, objs...)
	w.clock.SetTime(epoch.Add(time.Hour))

	return w, tenants
}

// healthyAreMade runs one worker until all but the first of the Tenants, which is
// doomed, are Ready. That one asks for its passes itself and, if so told, is woken
// after each pass of any.
func healthyAreMade(t *testing.T, m *many, tenants []*v1alpha1.Tenant, woken bool) {
	t.Helper()

	r := &passTeller{w: m.w, inner: m.w.reconcilerBy(m), passed: make(chan *v1alpha1.Tenant, 1)}
	events := runWorker(t, r)
	wake := func(name string) {
		o := &corev1.ConfigMap{}
		o.SetNamespace(tenantNamespace)
		o.SetName(name)
		events <- event.GenericEvent{Object: o}
	}

	for _, tn := range tenants {
		wake(tn.GetName())
	}

	var (
		doomed, healthy = tenants[0], len(tenants) - 1
		ready           = map[string]bool{}
		passes          = map[bool]int{}
	)

	for len(ready) < healthy {
		tn := r.next(t)
		isDoomed := tn.GetUID() == doomed.GetUID()
		passes[isDoomed]++

		switch {
		case isDoomed && tn.GetCondition(v1alpha1.TypeStalled).Status != corev1.ConditionTrue:
			t.Fatalf("the one that cannot go: %s: %s", tn.Status.Phase, tn.Status.Message)
		case tn.Status.Phase == v1alpha1.PhaseReady:
			ready[tn.GetName()] = true
		case !isDoomed:
			wake(tn.GetName())
		}

		if woken {
			wake(doomed.GetName())
		}

		// A Tenant needs two passes, and one worker is fair to all.
		if passes[false] > 2*healthy || passes[true] > passes[false]+1 {
			t.Fatalf("%d are Ready after %d passes of them, and %d of the one that cannot go", len(ready), passes[false], passes[true])
		}
	}

	if passes[true] == 0 {
		t.Error("the one that cannot go had no pass")
	}
}

// runWorker runs a controller with one worker, for Tenants by the name of what is sent.
func runWorker(t *testing.T, r reconcile.Reconciler) chan<- event.GenericEvent {
	t.Helper()

	c, err := controller.NewUnmanaged("one-worker", controller.Options{
		Reconciler: r, MaxConcurrentReconciles: 1, SkipNameValidation: ptr.To(true), NeedLeaderElection: ptr.To(false),
	})
	if err != nil {
		t.Fatal(err)
	}

	events := make(chan event.GenericEvent, 1000)
	if err := c.Watch(source.Channel(events, &handler.EnqueueRequestForObject{})); err != nil {
		t.Fatal(err)
	}

	reconcilertest.Start(t, c)

	return events
}

// passTeller tells of each pass how it left its Tenant.
type passTeller struct {
	w      *world
	inner  reconcile.Reconciler
	passed chan *v1alpha1.Tenant
}

func (p *passTeller) Reconcile(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	res, err := p.inner.Reconcile(ctx, r)

	select {
	case p.passed <- read[*v1alpha1.Tenant](p.w, p.w.kube, r.Namespace, r.Name):
	case <-ctx.Done():
	}

	return res, err
}

// next waits for the next pass.
func (p *passTeller) next(t *testing.T) *v1alpha1.Tenant {
	t.Helper()

	select {
	case tn := <-p.passed:
		return tn
	case <-time.After(passLimit):
		t.Fatalf("no pass within %s", passLimit)
		return nil
	}
}
