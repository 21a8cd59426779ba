// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

var agents = Kind{
	GroupVersionKind: v1alpha1.AdvisorAgentGroupVersionKind,
	Object:           func() client.Object { return &v1alpha1.AdvisorAgent{} },
	List:             func() resource.ManagedList { return &v1alpha1.AdvisorAgentList{} },
}

// recordingQueue keeps what is done to it.
type recordingQueue struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]

	mu   sync.Mutex
	done []string
}

func newQueue() *recordingQueue { return &recordingQueue{} }

func (q *recordingQueue) add(action string) {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.done = append(q.done, action)
}

func (q *recordingQueue) Forget(r reconcile.Request) { q.add("forget " + r.String()) }
func (q *recordingQueue) AddAfter(r reconcile.Request, d time.Duration) {
	q.add("after " + d.String() + " " + r.String())
}

func (q *recordingQueue) take() []string {
	q.mu.Lock()
	defer q.mu.Unlock()

	out := q.done
	q.done = nil

	return out
}

func TestWaker(t *testing.T) {
	t.Parallel()

	w, q := &Waker{}, newQueue()
	key := types.NamespacedName{Namespace: "n", Name: "x"}

	w.Wake(key) // Nothing runs yet.

	if err := w.Source().Start(t.Context(), q); err != nil {
		t.Fatal(err)
	}

	w.Wake(key)
	w.WakeAfter(key, time.Second)

	if diff := cmp.Diff([]string{"forget n/x", "after 0s n/x", "after 1s n/x"}, q.take()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestRequests holds that news goes to who refers to the Tenant, in its namespace.
func TestRequests(t *testing.T) {
	t.Parallel()

	far, elsewhere := insidetest.Agent("far"), insidetest.Agent("elsewhere")
	far.Spec.TenantRef.Name = "someone-else"
	elsewhere.SetNamespace("other")

	kube := newKube(insidetest.Agent("a"), insidetest.Agent("b"), insidetest.Quota("q"), far, elsewhere)
	want := []string{"kubeopera-system/a", "kubeopera-system/b"}
	names := func(rs []reconcile.Request) []string {
		out := make([]string, 0, len(rs))
		for _, r := range rs {
			out = append(out, r.String())
		}

		slices.Sort(out)

		return out
	}

	if diff := cmp.Diff(want, names(referring(kube, agents)(t.Context(), insidetest.Tenant()))); diff != "" {
		t.Errorf("of the Tenant: -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(want, names(siblings(kube, agents)(t.Context(), insidetest.Agent("gone")))); diff != "" {
		t.Errorf("of another: -want, +got:\n%s", diff)
	}

	if got := siblings(kube, agents)(t.Context(), insidetest.Tenant()); len(got) > 0 {
		t.Errorf("a Tenant refers to none: %v", got)
	}

	unindexed := insidetest.NewKube("another", TenantNameOf)
	if got := referring(unindexed, agents)(t.Context(), insidetest.Tenant()); len(got) > 0 {
		t.Errorf("what cannot be listed: %v", got)
	}
}

func TestTenantNews(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		change func(*v1alpha1.Tenant)
		want   bool
	}{
		"Nothing":     {func(*v1alpha1.Tenant) {}, false},
		"Message":     {func(t *v1alpha1.Tenant) { t.Status.Message = "x" }, false},
		"Phase":       {func(t *v1alpha1.Tenant) { t.Status.Phase = v1alpha1.PhaseInstallingFlux }, false},
		"Words":       {func(t *v1alpha1.Tenant) { setAPI(t, corev1.ConditionTrue, "in other words") }, false},
		"Unreachable": {func(t *v1alpha1.Tenant) { setAPI(t, corev1.ConditionFalse, "") }, true},
		"Secret":      {func(t *v1alpha1.Tenant) { t.Status.KubeconfigSecret = "another" }, true},
		"UID":         {func(t *v1alpha1.Tenant) { t.UID = "another" }, true},
		"Deleted":     {func(t *v1alpha1.Tenant) { t.SetDeletionTimestamp(&metav1.Time{Time: insidetest.Epoch}) }, true},
	}
	for name, tc := range cases {
		is := insidetest.Tenant()
		tc.change(is)

		if got := tenantNews().Update(event.UpdateEvent{ObjectOld: insidetest.Tenant(), ObjectNew: is}); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}

	if !tenantNews().Create(event.CreateEvent{Object: insidetest.Tenant()}) || !tenantNews().Delete(event.DeleteEvent{Object: insidetest.Tenant()}) {
		t.Error("a Tenant that comes or goes is news")
	}

	if tenantNews().Update(event.UpdateEvent{ObjectOld: insidetest.Agent("a"), ObjectNew: insidetest.Agent("a")}) {
		t.Error("what is no Tenant is no news")
	}
}

func setAPI(t *v1alpha1.Tenant, s corev1.ConditionStatus, message string) {
	t.SetConditions(xpv2.Condition{Type: v1alpha1.TypeAPIReachable, Status: s, Message: message})
}

func TestDeletions(t *testing.T) {
	t.Parallel()

	p, a := deletions(), insidetest.Agent("a")
	if p.Create(event.CreateEvent{Object: a}) || p.Update(event.UpdateEvent{ObjectOld: a, ObjectNew: a}) || p.Generic(event.GenericEvent{Object: a}) ||
		!p.Delete(event.DeleteEvent{Object: a}) {
		t.Error("only that one is gone is of interest to the others")
	}
}

func TestPollInterval(t *testing.T) {
	t.Parallel()

	ready := insidetest.Agent("a")
	ready.SetConditions(xpv2.Available())

	for name, tc := range map[string]struct {
		of         resource.Managed
		d          time.Duration
		least, max time.Duration
	}{
		"Ready":    {ready, time.Hour, time.Hour, 66 * time.Minute},
		"NotReady": {insidetest.Agent("a"), time.Hour, 15 * time.Second, 17 * time.Second},
		"Shorter":  {insidetest.Agent("a"), 5 * time.Second, 5 * time.Second, 6 * time.Second},
	} {
		if got := pollInterval(tc.of, tc.d); got < tc.least || got > tc.max {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestOptions holds that nothing is on that was not asked for.
func TestOptions(t *testing.T) {
	t.Parallel()

	on := &feature.Flags{}
	on.Enable(feature.EnableBetaManagementPolicies)

	none := len(Options(newKube(), controller.Options{Features: &feature.Flags{}}))
	if got := len(Options(newKube(), controller.Options{Features: on})); got != none+1 {
		t.Errorf("with policies: %d options more", got-none)
	}

	if got := len(Options(newKube(), controller.Options{Features: &feature.Flags{}, MetricOptions: &controller.MetricOptions{MRMetrics: managed.NewMRMetricRecorder()}})); got != none+1 {
		t.Errorf("with metrics: %d options more", got-none)
	}
}

func TestInitialize(t *testing.T) {
	t.Parallel()

	fresh := insidetest.Agent("a")
	fresh.Labels = nil

	cases := map[string]struct {
		reason string
		of     *v1alpha1.AdvisorAgent
		tenant bool
		change func(*v1alpha1.AdvisorAgent)
		bound  string
		writes int
	}{
		"New":     {"it gets its name and the UID of its Tenant", fresh, true, func(*v1alpha1.AdvisorAgent) {}, "uid-alice", 1},
		"Alone":   {"as long as there is no Tenant it has none", fresh, false, func(*v1alpha1.AdvisorAgent) {}, "", 1},
		"Known":   {"what is right is not written", insidetest.Agent("a"), true, func(a *v1alpha1.AdvisorAgent) { meta.SetExternalName(a, "a") }, "uid-alice", 0},
		"Another": {"it follows its Tenant", insidetest.Agent("a"), true, func(a *v1alpha1.AdvisorAgent) { a.Labels[v1alpha1.LabelTenantUID] = "uid-before" }, "uid-alice", 1},
		"Going": {
			"but not when it goes", insidetest.Deleted(insidetest.Agent("a"), insidetest.Epoch), true,
			func(a *v1alpha1.AdvisorAgent) {
				a.Labels[v1alpha1.LabelTenantUID] = "uid-before"
				meta.SetExternalName(a, "a")
			}, "uid-before", 0,
		},
		"Died": {
			"a Create that never returned is forgotten", insidetest.Agent("a"), true,
			func(a *v1alpha1.AdvisorAgent) {
				meta.SetExternalName(a, "a")
				meta.SetExternalCreatePending(a, insidetest.Epoch)
			}, "uid-alice", 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			a := tc.of.DeepCopy()
			tc.change(a)

			objs := []client.Object{a}
			if tc.tenant {
				objs = append(objs, insidetest.Tenant())
			}

			writes := 0
			kube := interceptor.NewClient(newKube(objs...), interceptor.Funcs{
				Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
					writes++
					return c.Update(ctx, o, opts...)
				},
			})

			stored := &v1alpha1.AdvisorAgent{}
			if err := kube.Get(t.Context(), client.ObjectKeyFromObject(a), stored); err != nil {
				t.Fatal(err)
			}

			if err := (Initializer{Kube: kube}).Initialize(t.Context(), stored); err != nil {
				t.Fatal(err)
			}

			if got := stored.Labels[v1alpha1.LabelTenantUID]; got != tc.bound || writes != tc.writes || meta.GetExternalName(stored) != "a" || meta.ExternalCreateIncomplete(stored) {
				t.Errorf("%s: bound to %q after %d writes, annotations %v", tc.reason, got, writes, stored.GetAnnotations())
			}
		})
	}
}

func TestInitializeErrors(t *testing.T) {
	t.Parallel()

	for _, verb := range []string{"get", "update"} {
		kube := interceptor.NewClient(newKube(insidetest.Agent("a")), interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if verb == "get" {
					return errInjected
				}

				return c.Get(ctx, key, o, opts...)
			},
			Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error {
				return errInjected
			},
		})

		if err := (Initializer{Kube: kube}).Initialize(t.Context(), insidetest.Agent("a")); !errors.Is(err, errInjected) {
			t.Errorf("%s: want %v, got %v", verb, errInjected, err)
		}
	}
}

// forgetful writes like an API server that answers with what it has stored.
type forgetful struct{ resource.Finalizer }

func (forgetful) UpdateCriticalAnnotations(_ context.Context, o client.Object) error {
	return forget(o)
}
func (forgetful) AddFinalizer(_ context.Context, o resource.Object) error { return forget(o) }

func forget(o client.Object) error {
	switch o := o.(type) {
	case *v1alpha1.AdvisorAgent:
		o.Status = v1alpha1.AdvisorAgentStatus{}
	case *v1alpha1.TenantQuota:
		o.Status = v1alpha1.TenantQuotaStatus{}
	}

	return errInjected
}

// TestKeepStatus holds that what a pass found out outlives its writes of metadata.
func TestKeepStatus(t *testing.T) {
	t.Parallel()

	a, q := insidetest.Agent("a"), insidetest.Quota("q")
	a.Status.Message, q.Status.Message = "kept", "kept"

	for _, o := range []resource.Object{a, q, insidetest.Tenant()} {
		if err := (annotationUpdater{forgetful{}}).UpdateCriticalAnnotations(t.Context(), o); !errors.Is(err, errInjected) {
			t.Errorf("%T: want %v, got %v", o, errInjected, err)
		}

		if err := (finalizer{forgetful{}}).AddFinalizer(t.Context(), o); !errors.Is(err, errInjected) {
			t.Errorf("%T: want %v, got %v", o, errInjected, err)
		}
	}

	if a.Status.Message != "kept" || q.Status.Message != "kept" {
		t.Errorf("the status was lost: %q, %q", a.Status.Message, q.Status.Message)
	}
}

func TestTenantOf(t *testing.T) {
	t.Parallel()

	want := types.NamespacedName{Namespace: insidetest.Namespace, Name: "alice-default"}
	for _, o := range []client.Object{insidetest.Agent("a"), insidetest.Quota("q")} {
		if got, ok := TenantOf(o); !ok || got != want || !slices.Equal(TenantNameOf(o), []string{"alice-default"}) {
			t.Errorf("%T: %v", o, got)
		}
	}

	if got, ok := TenantOf(&corev1.Pod{}); ok || TenantNameOf(&corev1.Pod{}) != nil {
		t.Errorf("a Pod refers to %v", got)
	}
}
