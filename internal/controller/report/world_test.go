// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/report"
)

const (
	namespace       = "kubeopera-system"
	outboxNamespace = "crossplane-system"
	index           = "spec.cloudSpaceID"
	aliceID         = "alice-id"
)

var (
	// epoch is when the tests begin.
	epoch = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

	errInjected = errors.New("injected failure")
)

var testScheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(s), v1alpha1.AddToScheme(s)); err != nil {
		panic(err)
	}

	return s
})

// world is the cluster, kubeopera-api and the time, all fake.
type world struct {
	t *testing.T

	kube   client.WithWatch
	outbox *report.Outbox
	clock  *clocktesting.FakePassiveClock
	events *recorder
	r      *reconciler

	// put are the reports that kubeopera-api accepted, as id/status, with their keys.
	put  []string
	keys []string
	// attempts to put a report, accepted or not.
	attempts int
	// refuse a report with the error, unless that is nil.
	refuse func(r report.Report) error

	// writes to Tenants and the outbox that succeeded.
	writes []string
	// fail the read or write of which it returns an error.
	fail func(action string) error
	// stale is what the cache has of Tenants, if it is behind.
	stale *v1alpha1.TenantList
}

func newWorld(t *testing.T, objs ...client.Object) *world {
	t.Helper()

	w := &world{
		t:      t,
		clock:  clocktesting.NewFakePassiveClock(epoch),
		events: &recorder{},
		refuse: func(report.Report) error { return nil },
		fail:   func(string) error { return nil },
	}

	w.kube = fake.NewClientBuilder().WithScheme(testScheme()).WithObjects(objs...).
		WithStatusSubresource(&v1alpha1.Tenant{}).
		WithIndex(&v1alpha1.Tenant{}, index, func(o client.Object) []string {
			return []string{o.(*v1alpha1.Tenant).Spec.CloudSpaceID}
		}).Build()

	through := interceptor.NewClient(w.kube, interceptor.Funcs{
		List:   w.list,
		Delete: w.remove,
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			return w.write("update "+o.GetName(), func() error { return c.SubResource(sub).Update(ctx, o, opts...) })
		},
	})
	w.outbox = report.NewOutbox(through, through, outboxNamespace)
	w.restart(through)

	return w
}

// restart the provider: what it had in memory is gone.
func (w *world) restart(kube client.Client) {
	w.r = &reconciler{
		kube: kube, live: w.kube, put: w.accept, outbox: w.outbox, index: index, record: w.events,
		log: logging.NewNopLogger(), clock: w.clock, backoff: newBackoff(), memory: newMemory(),
	}
}

// accept is what kubeopera-api does.
func (w *world) accept(_ context.Context, r report.Report) error {
	w.attempts++

	if err := w.refuse(r); err != nil {
		return fmt.Errorf("cannot report %q: %w", r.Status, err)
	}

	w.put = append(w.put, string(r.TenantUID)+"/"+string(r.Status))
	w.keys = append(w.keys, r.Key())

	return nil
}

func (w *world) list(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
	if err := w.fail(fmt.Sprintf("list %T", l)); err != nil {
		return err
	}

	if out, ok := l.(*v1alpha1.TenantList); ok && w.stale != nil {
		w.stale.DeepCopyInto(out)
		return nil
	}

	return c.List(ctx, l, opts...)
}

func (w *world) remove(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
	return w.write("delete "+o.GetName(), func() error { return c.Delete(ctx, o, opts...) })
}

func (w *world) write(action string, do func() error) error {
	if err := w.fail(action); err != nil {
		return err
	}

	err := do()
	if err == nil {
		w.writes = append(w.writes, action)
	}

	return err
}

// reconcile the CloudSpace once.
func (w *world) reconcile(id string) (reconcile.Result, error) {
	w.t.Helper()

	return w.r.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: id}})
}

// mustReconcile the CloudSpace once, with nothing left to do.
func (w *world) mustReconcile(id string) {
	w.t.Helper()

	if res, err := w.reconcile(id); err != nil || res != (reconcile.Result{}) {
		w.t.Fatalf("Reconcile(%q) = %+v, %v; want nothing left to do", id, res, err)
	}
}

// tenant as it is stored.
func (w *world) tenant(name string) *v1alpha1.Tenant {
	w.t.Helper()

	t := &v1alpha1.Tenant{}
	if err := w.kube.Get(w.t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, t); err != nil {
		w.t.Fatal(err)
	}

	return t
}

// change alice's status behind the back of the code.
func (w *world) change(fn func(*v1alpha1.Tenant)) {
	w.t.Helper()

	t := w.tenant("alice")
	fn(t)

	if err := w.kube.Status().Update(w.t.Context(), t); err != nil {
		w.t.Fatal(err)
	}
}

// lag keeps the cache as it is now.
func (w *world) lag() {
	w.t.Helper()

	w.stale = &v1alpha1.TenantList{}
	if err := w.kube.List(w.t.Context(), w.stale); err != nil {
		w.t.Fatal(err)
	}
}

// box puts the last report of a Tenant into the outbox.
func (w *world) box(uid types.UID, at time.Duration) {
	w.t.Helper()

	t := alice()
	t.SetUID(uid)

	r := report.Of(t, v1alpha1.ReportStatus{Status: v1alpha1.ReportDeleted, ObservedAt: metav1.NewMicroTime(epoch.Add(at))})
	if err := w.outbox.Add(w.t.Context(), r); err != nil {
		w.t.Fatal(err)
	}
}

// boxed are the names of the ConfigMaps in the outbox.
func (w *world) boxed() []string {
	w.t.Helper()

	l := &corev1.ConfigMapList{}
	if err := w.kube.List(w.t.Context(), l); err != nil {
		w.t.Fatal(err)
	}

	var out []string
	for i := range l.Items {
		out = append(out, l.Items[i].GetName())
	}

	return out
}

// alice is a Tenant with nothing to report.
func alice() *v1alpha1.Tenant {
	return &v1alpha1.Tenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "alice", UID: "uid-alice", Generation: 2},
		Spec:       v1alpha1.TenantSpec{TenantName: "alice", CloudSpaceID: aliceID},
		Status:     v1alpha1.TenantStatus{Phase: v1alpha1.PhaseProvisioning, Message: "it is being made"},
	}
}

// reporting gives the Tenant a report, as the Tenant controller does.
func reporting(t *v1alpha1.Tenant, s v1alpha1.ReportState, at time.Duration) *v1alpha1.Tenant {
	t.Status.Report = &v1alpha1.ReportStatus{Status: s, Message: "as observed", Generation: t.GetGeneration(), ObservedAt: metav1.NewMicroTime(epoch.Add(at))}
	t.SetConditions(xpv2.Condition{
		Type: v1alpha1.TypeReported, Status: corev1.ConditionFalse, Reason: v1alpha1.ReasonProgressing,
		LastTransitionTime: metav1.NewTime(epoch.Add(-time.Hour)),
	})

	return t
}

// as makes the Tenant another one.
func as(t *v1alpha1.Tenant, name, id string) *v1alpha1.Tenant {
	t.SetName(name)
	t.SetUID(types.UID("uid-" + name))
	t.Spec.CloudSpaceID = id

	return t
}

// refusing is an error of kubeopera-api.
func refusing(after time.Duration) func(report.Report) error {
	return func(report.Report) error { return &report.Error{RetryAfter: after} }
}

// recorder keeps the events.
type recorder struct{ messages []string }

func (r *recorder) Event(o runtime.Object, e event.Event) {
	name := ""
	if m, ok := o.(client.Object); ok {
		name = m.GetName()
	}

	r.messages = append(r.messages, fmt.Sprintf("%s %s %s: %s", e.Type, e.Reason, name, e.Message))
}

func (r *recorder) WithAnnotations(...string) event.Recorder { return r }
