// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/report"
)

func TestDeliver(t *testing.T) {
	t.Parallel()

	accepted := reporting(alice(), v1alpha1.ReportActive, 0)
	accepted.Status.Report.AcceptedAt = &metav1.Time{Time: epoch}

	paused := reporting(alice(), v1alpha1.ReportActive, 0)
	paused.SetAnnotations(map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})

	going := reporting(alice(), v1alpha1.ReportDeleting, 0)
	going.SetFinalizers([]string{"finalizer.managedresource.crossplane.io"})
	going.SetDeletionTimestamp(&metav1.Time{Time: epoch})

	cases := map[string]struct {
		reason  string
		tenants []client.Object
		put     []string
		writes  []string
	}{
		"Nothing":    {reason: "a Tenant without a report", tenants: []client.Object{alice()}},
		"Pending":    {reason: "a report is put and its acceptance written", tenants: []client.Object{reporting(alice(), v1alpha1.ReportActive, 0)}, put: []string{"uid-alice/active"}, writes: []string{"update alice"}},
		"Accepted":   {reason: "what was accepted is not put again", tenants: []client.Object{accepted}},
		"Paused":     {reason: "a Tenant that is paused is left alone", tenants: []client.Object{paused}},
		"Deleting":   {reason: "a Tenant that is being deleted reports too", tenants: []client.Object{going}, put: []string{"uid-alice/deleting"}, writes: []string{"update alice"}},
		"AnotherID":  {reason: "only the CloudSpace of the request", tenants: []client.Object{as(reporting(alice(), v1alpha1.ReportActive, 0), "bob", "bob-id")}},
		"OldestLast": {reason: "of two Tenants of one id the older report comes first", tenants: []client.Object{reporting(alice(), v1alpha1.ReportActive, 2*time.Second), as(reporting(alice(), v1alpha1.ReportFailed, time.Second), "bob", aliceID)}, put: []string{"uid-bob/failed", "uid-alice/active"}, writes: []string{"update bob", "update alice"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, tc.tenants...)
			for range 2 {
				w.mustReconcile(aliceID)
			}

			if diff := cmp.Diff([][]string{tc.put, tc.writes}, [][]string{w.put, w.writes}); diff != "" {
				t.Errorf("%s: put, written; -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAcceptance(t *testing.T) {
	t.Parallel()

	w := newWorld(t, reporting(alice(), v1alpha1.ReportActive, 0))
	w.clock.SetTime(epoch.Add(time.Minute))
	w.mustReconcile(aliceID)

	got := w.tenant("alice")
	if at := got.Status.Report.AcceptedAt; at == nil || !at.Time.Equal(epoch.Add(time.Minute)) {
		t.Errorf("accepted at %v, want now", at)
	}

	c := got.GetCondition(v1alpha1.TypeReported)
	if c.Status != corev1.ConditionTrue || c.Reason != v1alpha1.ReasonDone || c.Message != "" || c.ObservedGeneration != 2 || !c.LastTransitionTime.Time.Equal(epoch.Add(time.Minute)) {
		t.Errorf("got %+v, want True since now", c)
	}

	if at := got.Status.LastSyncedAt; at == nil || !at.Time.Equal(epoch.Add(time.Minute)) {
		t.Errorf("last synced at %v, want when the status changed", at)
	}

	if got.Status.Phase != v1alpha1.PhaseProvisioning || got.Status.Message != "it is being made" || got.Status.Report.Status != v1alpha1.ReportActive {
		t.Errorf("the rest of the status changed: %+v", got.Status)
	}
}

// A report that nobody has seen is replaced by a newer one.
func TestCoalescing(t *testing.T) {
	t.Parallel()

	w := newWorld(t, reporting(alice(), v1alpha1.ReportProvisioning, 0))
	w.refuse = refusing(0)

	if res, err := w.reconcile(aliceID); err != nil || res.RequeueAfter == 0 {
		t.Fatalf("got %+v, %v; want another attempt", res, err)
	}

	w.change(func(a *v1alpha1.Tenant) { reporting(a, v1alpha1.ReportFailed, time.Second) })
	w.change(func(a *v1alpha1.Tenant) { reporting(a, v1alpha1.ReportActive, time.Minute) })

	w.refuse = func(report.Report) error { return nil }
	w.mustReconcile(aliceID)

	if diff := cmp.Diff([]string{"uid-alice/active"}, w.put); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestOutboxComesFirst(t *testing.T) {
	t.Parallel()

	w := newWorld(t, as(reporting(alice(), v1alpha1.ReportProvisioning, 0), "next", aliceID))
	w.box("uid-second", 2*time.Minute)
	w.box("uid-first", time.Minute)

	w.refuse = func(r report.Report) error {
		if r.TenantUID == "uid-second" {
			return &report.Error{}
		}

		return nil
	}

	if res, err := w.reconcile(aliceID); err != nil || res.RequeueAfter == 0 {
		t.Fatalf("got %+v, %v; want another attempt", res, err)
	}

	if diff := cmp.Diff([]string{"uid-first/deleted"}, w.put); diff != "" {
		t.Errorf("what comes after one that is not accepted has to wait; -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff([]string{"report-uid-second"}, w.boxed()); diff != "" {
		t.Errorf("what was accepted leaves the outbox at once, and only that; -want, +got:\n%s", diff)
	}

	c := w.tenant("next").GetCondition(v1alpha1.TypeReported)
	if c.Reason != v1alpha1.ReasonFailed || !strings.HasPrefix(c.Message, `the outbox comes first: cannot report "deleted"`) {
		t.Errorf("got %+v, want what the Tenant's report waits for", c)
	}

	w.refuse = func(report.Report) error { return nil }
	w.mustReconcile(aliceID)

	if diff := cmp.Diff([]string{"uid-first/deleted", "uid-second/deleted", "uid-next/provisioning"}, w.put); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	if left := w.boxed(); left != nil {
		t.Errorf("%q are left in the outbox", left)
	}
}

// The entry is there before its Tenant is gone.
func TestNothingFollowsDeleted(t *testing.T) {
	t.Parallel()

	w := newWorld(t, reporting(alice(), v1alpha1.ReportDeleting, 0))
	w.box("uid-alice", time.Minute)

	for range 2 {
		w.mustReconcile(aliceID)
	}

	if diff := cmp.Diff([]string{"uid-alice/deleted"}, w.put); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	if len(w.r.memory.by) != 1 {
		t.Error("a Tenant that still exists was forgotten")
	}

	if err := w.kube.Delete(t.Context(), w.tenant("alice")); err != nil {
		t.Fatal(err)
	}

	w.mustReconcile(aliceID)

	if len(w.r.memory.by) != 0 {
		t.Error("a Tenant that is gone is remembered")
	}
}

// A Tenant may carry its last report itself.
func TestTenantReportsDeleted(t *testing.T) {
	t.Parallel()

	w := newWorld(t, reporting(alice(), v1alpha1.ReportDeleted, time.Minute))
	w.fail = func(action string) error { return map[string]error{"update alice": errInjected}[action] }

	if _, err := w.reconcile(aliceID); !errors.Is(err, errInjected) {
		t.Fatalf("got %v", err)
	}

	w.fail = func(string) error { return nil }
	w.mustReconcile(aliceID)

	if diff := cmp.Diff([]string{"uid-alice/deleted"}, w.put); diff != "" || w.tenant("alice").Status.Report.AcceptedAt == nil {
		t.Errorf("want it accepted once; -want, +got:\n%s", diff)
	}
}

func TestFailure(t *testing.T) {
	t.Parallel()

	w := newWorld(t, reporting(alice(), v1alpha1.ReportActive, 0))
	w.refuse = refusing(0)

	var waits []time.Duration

	for range 8 {
		res, err := w.reconcile(aliceID)
		if err != nil {
			t.Fatal(err)
		}

		waits = append(waits, res.RequeueAfter)
		w.clock.SetTime(w.clock.Now().Add(res.RequeueAfter))
	}

	want := []time.Duration{1, 2, 4, 8, 16, 32, 60, 60}
	for i := range want {
		want[i] *= time.Second
	}

	if !slices.Equal(waits, want) || w.attempts != 8 {
		t.Errorf("waited %v for %d attempts, want %v for 8", waits, w.attempts, want)
	}

	got := w.tenant("alice")
	c := got.GetCondition(v1alpha1.TypeReported)

	if c.Status != corev1.ConditionFalse || c.Reason != v1alpha1.ReasonFailed || c.Message != `cannot report "active": ` || !c.LastTransitionTime.Time.Equal(epoch.Add(-time.Hour)) {
		t.Errorf("got %+v, want why it failed, and False since it was", c)
	}

	if diff := cmp.Diff([]string{"update alice"}, w.writes); diff != "" || !got.Status.LastSyncedAt.Time.Equal(epoch) {
		t.Errorf("the same failure is written once; last synced at %v; -want, +got:\n%s", got.Status.LastSyncedAt, diff)
	}

	w.refuse = func(report.Report) error { return nil }
	w.mustReconcile(aliceID)
	w.change(func(a *v1alpha1.Tenant) { reporting(a, v1alpha1.ReportFailed, time.Hour) })

	w.refuse = refusing(0)
	if res, err := w.reconcile(aliceID); err != nil || res.RequeueAfter != time.Second {
		t.Errorf("after a success: got %+v, %v; want to begin with a second", res, err)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()

	w := newWorld(t, reporting(alice(), v1alpha1.ReportActive, 0), as(reporting(alice(), v1alpha1.ReportActive, 0), "bob", "bob-id"))
	w.refuse = refusing(5 * time.Minute)

	if res, err := w.reconcile(aliceID); err != nil || res.RequeueAfter != 5*time.Minute {
		t.Fatalf("got %+v, %v; want what the server asked for", res, err)
	}

	w.refuse = func(report.Report) error { return nil }
	w.clock.SetTime(epoch.Add(time.Minute))

	if res, err := w.reconcile(aliceID); err != nil || res.RequeueAfter != 4*time.Minute || w.attempts != 1 {
		t.Errorf("woken early: got %+v, %v after %d attempts; want no attempt and the rest of the time", res, err, w.attempts)
	}

	w.mustReconcile("bob-id")

	w.clock.SetTime(epoch.Add(5 * time.Minute))
	w.mustReconcile(aliceID)

	if diff := cmp.Diff([]string{"uid-bob/active", "uid-alice/active"}, w.put); diff != "" {
		t.Errorf("one that waits holds no other; -want, +got:\n%s", diff)
	}
}

// A server that asks for less than the backoff does not shorten it.
func TestRetryAfterIsNoShortcut(t *testing.T) {
	t.Parallel()

	w := newWorld(t, reporting(alice(), v1alpha1.ReportActive, 0))
	w.refuse = refusing(time.Second)

	var last time.Duration

	for range 4 {
		res, err := w.reconcile(aliceID)
		if err != nil {
			t.Fatal(err)
		}

		last = res.RequeueAfter
		w.clock.SetTime(w.clock.Now().Add(last))
	}

	if last != 8*time.Second {
		t.Errorf("the fourth attempt is followed by a pause of %s, want 8s", last)
	}
}

func TestRestart(t *testing.T) {
	t.Parallel()

	w := newWorld(t, reporting(alice(), v1alpha1.ReportActive, 0), as(reporting(alice(), v1alpha1.ReportActive, 0), "bob", "bob-id"))
	w.box("uid-before", -time.Minute)

	// The acceptance is lost with the process.
	kube := w.r.kube
	w.fail = func(action string) error { return map[string]error{"update alice": errInjected}[action] }

	if _, err := w.reconcile(aliceID); !errors.Is(err, errInjected) {
		t.Fatalf("got %v", err)
	}

	w.fail = func(string) error { return nil }
	w.restart(kube)

	for _, id := range []string{aliceID, "bob-id"} {
		w.mustReconcile(id)
	}

	w.restart(kube)

	for _, id := range []string{aliceID, "bob-id"} {
		w.mustReconcile(id)
	}

	if diff := cmp.Diff([]string{"uid-before/deleted", "uid-alice/active", "uid-alice/active", "uid-bob/active"}, w.put); diff != "" {
		t.Errorf("only what is not known to be accepted is put again; -want, +got:\n%s", diff)
	}

	if w.keys[1] != w.keys[2] {
		t.Errorf("the same report came with two keys: %v", w.keys)
	}
}

// What was accepted leaves the outbox later, and is not put again until then.
func TestEntryCannotBeRemoved(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	w.box("uid-alice", 0)

	w.fail = func(action string) error { return map[string]error{"delete report-uid-alice": errInjected}[action] }
	for range 2 {
		if _, err := w.reconcile(aliceID); !errors.Is(err, errInjected) {
			t.Fatalf("got %v", err)
		}
	}

	w.fail = func(string) error { return nil }
	w.mustReconcile(aliceID)

	if diff := cmp.Diff([]string{"uid-alice/deleted"}, w.put); diff != "" || w.boxed() != nil {
		t.Errorf("want one report and an empty outbox; -want, +got:\n%s", diff)
	}

	if len(w.r.memory.by) != 0 {
		t.Error("a Tenant that is gone is remembered")
	}
}

func TestDamagedEntry(t *testing.T) {
	t.Parallel()

	broken := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: outboxNamespace, Name: "report-broken", UID: "uid-broken",
		Labels: map[string]string{report.LabelReport: "deleted", v1alpha1.LabelTenantID: aliceID},
	}}

	w := newWorld(t, broken, reporting(alice(), v1alpha1.ReportActive, 0))
	w.box("uid-whole", 0)

	for range 2 {
		w.mustReconcile(aliceID)
	}

	if diff := cmp.Diff([]string{"uid-whole/deleted", "uid-alice/active"}, w.put); diff != "" {
		t.Errorf("it holds nothing back; -want, +got:\n%s", diff)
	}

	if n := len(w.events.messages); n != 1 || !strings.HasPrefix(w.events.messages[0], `Warning DamagedReport report-broken: cannot report what ConfigMap "crossplane-system/report-broken" holds: `) {
		t.Errorf("got %q, want one event that names it", w.events.messages)
	}

	if diff := cmp.Diff([]string{"report-broken"}, w.boxed()); diff != "" {
		t.Errorf("it is left alone; -want, +got:\n%s", diff)
	}

	if err := w.kube.Get(t.Context(), client.ObjectKeyFromObject(broken), broken); err != nil {
		t.Fatal(err)
	}

	broken.Data = map[string]string{"report.json": "{"}
	if err := w.kube.Update(t.Context(), broken); err != nil {
		t.Fatal(err)
	}

	w.mustReconcile(aliceID)

	if len(w.events.messages) != 2 {
		t.Errorf("got %q, want another event for what was changed and is still damaged", w.events.messages)
	}

	if err := errors.Join(w.kube.Delete(t.Context(), broken), w.kube.Delete(t.Context(), w.tenant("alice"))); err != nil {
		t.Fatal(err)
	}

	w.mustReconcile(aliceID)

	if len(w.r.memory.by) != 0 {
		t.Error("a ConfigMap that is gone is remembered")
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()

	for _, what := range []string{"list *v1alpha1.TenantList", "list *v1.ConfigMapList"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, reporting(alice(), v1alpha1.ReportActive, 0))
			w.fail = func(action string) error { return map[string]error{what: errInjected}[action] }

			if _, err := w.reconcile(aliceID); !errors.Is(err, errInjected) || w.attempts != 0 {
				t.Errorf("got %v after %d attempts: what cannot be read is not absent", err, w.attempts)
			}
		})
	}
}

// When the provider ends, that says nothing about kubeopera-api.
func TestProviderEnds(t *testing.T) {
	t.Parallel()

	w := newWorld(t, reporting(alice(), v1alpha1.ReportActive, 0))
	w.refuse = func(report.Report) error { return context.Canceled }

	if _, err := w.reconcile(aliceID); !errors.Is(err, context.Canceled) || w.writes != nil {
		t.Errorf("got %v and %q, want the end and no write", err, w.writes)
	}
}
