// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantquota

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpfake "github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

var errInjected = errors.New("injected failure")

// world is the cluster of the Tenants, a vCluster and the time, all fake.
type world struct {
	t *testing.T

	kube     client.WithWatch
	vcluster *insidetest.VCluster
	clock    *clocktesting.FakePassiveClock
	events   *insidetest.Recorder
	waker    *reconciler.Waker
	api      *tenantapi.API
}

// newWorld has the given objects beside the Tenants.
func newWorld(t *testing.T, kube ...client.Object) *world {
	t.Helper()

	w := &world{
		t: t, kube: insidetest.NewKube(inside.IndexTenant, inside.TenantNameOf, kube...),
		clock: clocktesting.NewFakePassiveClock(insidetest.Epoch), events: &insidetest.Recorder{}, waker: &reconciler.Waker{},
	}
	w.renew()
	w.makeNamespaces("default")

	return w
}

// renew has an empty vCluster in the place of the one before.
func (w *world) renew() {
	w.vcluster = insidetest.NewVCluster(w.t)
	w.api = &tenantapi.API{Live: w.vcluster}
}

// newReadyWorld has a Tenant that is Ready, and what is given.
func newReadyWorld(t *testing.T, kube ...client.Object) *world {
	t.Helper()

	tn := insidetest.Tenant()

	return newWorld(t, append(kube, tn, insidetest.Secret(tn, insidetest.Kubeconfig()))...)
}

func (w *world) reconciler() *managed.Reconciler {
	features := &feature.Flags{}
	features.Enable(feature.EnableBetaManagementPolicies)

	c := &connector{
		Controller: inside.Controller{
			Kube: w.kube, Record: w.events, Clock: w.clock, Waker: w.waker,
			Door: inside.Door{Kube: w.kube, Open: func(types.UID, *vcluster.Kubeconfig) (*tenantapi.API, error) { return w.api, nil }},
		},
	}

	return managed.NewReconciler(&xpfake.Manager{Client: w.kube, Scheme: insidetest.Scheme()}, resource.ManagedKind(kind.GroupVersionKind),
		append(inside.Options(w.kube, controller.Options{Features: features, PollInterval: time.Minute}),
			managed.WithTypedExternalConnector(c), managed.WithRecorder(w.events))...)
}

// reconcile the TenantQuota of that name once, and return it as it is stored; nil
// when it is gone.
func (w *world) reconcile(name string) *v1alpha1.TenantQuota {
	w.t.Helper()

	w.clock.SetTime(w.clock.Now().Add(time.Second))

	key := types.NamespacedName{Namespace: insidetest.Namespace, Name: name}
	if _, err := w.reconciler().Reconcile(w.t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
		w.t.Fatal(err)
	}

	q := &v1alpha1.TenantQuota{}
	if err := w.kube.Get(w.t.Context(), key, q); kerrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		w.t.Fatal(err)
	}

	c := q.GetCondition(xpv2.TypeReady)
	if c.Message != "" && c.Message != q.Status.Message {
		w.t.Errorf("two messages: %q, and of Ready %q", q.Status.Message, c.Message)
	}

	return q
}

// arrive brings the TenantQuota to Ready.
func (w *world) arrive(name string) {
	w.t.Helper()

	w.reconcile(name)

	w.expect(w.reconcile(name), xpv2.ReasonAvailable, messageReady)
	w.vcluster.Writes()
}

// expect where an TenantQuota stands.
func (w *world) expect(q *v1alpha1.TenantQuota, reason xpv2.ConditionReason, says string) {
	w.t.Helper()

	if c := q.GetCondition(xpv2.TypeReady); c.Reason != reason || !strings.Contains(q.Status.Message, says) {
		w.t.Errorf("it is %s: %q; want %s: %q", c.Reason, q.Status.Message, reason, says)
	}
}

// synced says whether the last pass was without an error.
func synced(q *v1alpha1.TenantQuota) bool {
	return q.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue
}

// change the TenantQuota, or anything else, behind the back of the code.
func change[T client.Object](w *world, c client.Client, o T, fn func(T)) {
	w.t.Helper()

	w.must(c.Get(w.t.Context(), client.ObjectKeyFromObject(o), o))
	fn(o)
	w.must(c.Update(w.t.Context(), o))
}

func (w *world) must(err error) {
	w.t.Helper()

	if err != nil {
		w.t.Fatal(err)
	}
}

// remove the TenantQuota q.
func (w *world) remove() {
	w.t.Helper()

	w.must(w.kube.Delete(w.t.Context(), insidetest.Quota("q")))
}

// failing fails the actions that contain the text.
func failing(text string) func(string) error {
	return func(action string) error {
		if strings.Contains(action, text) {
			return errInjected
		}

		return nil
	}
}

// makeNamespaces inside the vCluster.
func (w *world) makeNamespaces(names ...string) {
	w.t.Helper()

	for _, n := range names {
		ns := &corev1.Namespace{}
		ns.SetName(n)
		w.must(w.vcluster.Create(w.t.Context(), ns))
	}

	w.vcluster.Writes()
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

// has says whether the object is there.
func (w *world) has(o client.Object) bool {
	w.t.Helper()

	err := w.vcluster.Get(w.t.Context(), client.ObjectKeyFromObject(o), o)
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}

	return err == nil
}

// take it away behind the back of the code.
func (w *world) take(o client.Object) {
	w.t.Helper()

	if !w.has(o) {
		w.t.Fatalf("no %T %q", o, o.GetName())
	}

	uid := o.GetUID()
	w.must(w.vcluster.Delete(w.t.Context(), o, client.Preconditions{UID: &uid}))
	w.vcluster.Writes()
}
