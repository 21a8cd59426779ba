// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// TestPauseDoublesUpToACap holds the pauses of an attempt that keeps failing.
func TestPauseDoublesUpToACap(t *testing.T) {
	t.Parallel()

	f, tn, now := newFailures(), alice().Obj(), epoch

	var got []time.Duration

	for range 8 {
		f.add(tn, partFlux, v1alpha1.TypeFluxReady, errInjected, now)

		pause := f.by[attempt{tn.GetUID(), partFlux}].pause
		got = append(got, pause)

		if _, ok := f.pausing(tn, partFlux, now.Add(pause-time.Nanosecond)); !ok {
			t.Errorf("a moment before %s are over the part is tried again", pause)
		}

		if _, ok := f.pausing(tn, partFlux, now.Add(pause)); ok {
			t.Errorf("after %s the part still pauses", pause)
		}

		now = now.Add(pause)
	}

	want := []time.Duration{
		2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute, time.Minute,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestPausing(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(*failures, *v1alpha1.Tenant)
		want   bool
	}{
		"Failed":      {"the last attempt failed", func(*failures, *v1alpha1.Tenant) {}, true},
		"SpecChanged": {"a changed spec is tried at once", func(_ *failures, tn *v1alpha1.Tenant) { tn.SetGeneration(2) }, false},
		"Forgotten":   {"an attempt succeeded", func(f *failures, tn *v1alpha1.Tenant) { f.forget(tn, partHost) }, false},
		"AllForgotten": {
			"there is nothing to attempt", func(f *failures, tn *v1alpha1.Tenant) { f.forget(tn, parts...) }, false,
		},
		"AnotherPart": {"another part succeeded", func(f *failures, tn *v1alpha1.Tenant) { f.forget(tn, partFlux, partAdvisor, partQuota) }, true},
		"AnotherUID":  {"a Tenant of the same name is another", func(_ *failures, tn *v1alpha1.Tenant) { tn.SetUID("other") }, false},
		"AnotherGone": {"another Tenant was forgotten", func(f *failures, _ *v1alpha1.Tenant) { f.forget(bob().Obj(), parts...) }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f, tn := newFailures(), alice().Obj()
			f.add(tn, partHost, v1alpha1.TypeBoundaryReady, errInjected, epoch)
			tc.change(f, tn)

			last, got := f.pausing(tn, partHost, epoch.Add(time.Second))
			if got != tc.want {
				t.Errorf("%s: pausing is %t, want %t", tc.reason, got, tc.want)
			}

			if got && (!errors.Is(last.err, errInjected) || last.stage != v1alpha1.TypeBoundaryReady) {
				t.Errorf("%s: the failure is %+v", tc.reason, last)
			}

			if _, ok := f.pausing(tn, partFlux, epoch.Add(time.Second)); ok {
				t.Errorf("%s: a part that did not fail pauses", tc.reason)
			}
		})
	}
}

// TestPauseStartsAnewWithTheSpec holds that a new spec does not inherit the long
// pause of the old one.
func TestPauseStartsAnewWithTheSpec(t *testing.T) {
	t.Parallel()

	f, tn := newFailures(), alice().Obj()
	for range 5 {
		f.add(tn, partHost, v1alpha1.TypeReleaseDeployed, errInjected, epoch)
	}

	tn.SetGeneration(2)
	f.add(tn, partHost, v1alpha1.TypeReleaseDeployed, errInjected, epoch)

	if got := f.by[attempt{tn.GetUID(), partHost}].pause; got != firstRetry {
		t.Errorf("pause of the first failure of a new spec is %s, want %s", got, firstRetry)
	}
}

// requested has the token of a reconcile request, of which one was handled.
func requested(b tenantBuilder, token, handled string) tenantBuilder {
	if token != "" {
		meta.SetReconcileRequest(b.Tenant, token)
	}

	b.SetLastHandledReconcileAt(handled)

	return b
}

func TestRetryRequested(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		tenant tenantBuilder
		want   bool
	}{
		"Nothing":        {"nobody asked", alice().Phase(v1alpha1.PhaseFailed).Says("no"), false},
		"Annotation":     {"a person asked", requested(alice(), "1", ""), true},
		"Handled":        {"a request counts once", requested(alice(), "1", "1"), false},
		"Another":        {"another request counts again", requested(alice(), "2", "1"), true},
		"NeverAsked":     {"no annotation is no request", requested(alice(), "", "1"), false},
		"Fresh":          {"the API server itself sets the phase of a new Tenant", alice(), false},
		"OwnPending":     {"the provider says so of its own", alice().Says(messagePending), false},
		"Pending":        {"a person set the phase back, which leaves the message", alice().Says("cannot install"), true},
		"PendingReady":   {"also of a Tenant that is Ready", alice().Says("vCluster ready"), true},
		"OtherPhase":     {"another phase is no request", alice().Phase(v1alpha1.PhaseProvisioning).Says("cannot install"), false},
		"PendingHandled": {"the phase counts beside a request that was handled", requested(alice(), "1", "1").Says("cannot install"), true},
	}
	for name, tc := range cases {
		if got := retryRequested(tc.tenant.Obj()); got != tc.want {
			t.Errorf("%s: %s: got %t, want %t", name, tc.reason, got, tc.want)
		}
	}
}

// TestOnRetry holds which change of a status wakes a Tenant.
func TestOnRetry(t *testing.T) {
	t.Parallel()

	failed := alice().Phase(v1alpha1.PhaseFailed).Says("cannot install").Obj()
	ready := alice().Phase(v1alpha1.PhaseReady).Says("vCluster ready").Obj()
	set := alice().Says("cannot install").Obj()

	cases := map[string]struct {
		reason        string
		before, after client.Object
		want          bool
	}{
		"Failed":      {"a person sets the phase of a failed Tenant back", failed, set, true},
		"Ready":       {"or of a Ready one", ready, alice().Says("vCluster ready").Obj(), true},
		"OwnPending":  {"the provider's own Pending wakes nobody", failed, alice().Says(messagePending).Obj(), false},
		"NoMessage":   {"nor does that of a status that is empty", failed, alice().Obj(), false},
		"StillThere":  {"what was Pending before was told before", set, set.DeepCopy(), false},
		"OtherPhase":  {"another phase", ready, failed, false},
		"NothingElse": {"the same status", failed, failed.DeepCopy(), false},
		"OtherKind":   {"another kind", &corev1.Secret{}, &corev1.Secret{}, false},
		"HalfKind":    {"half another kind", &corev1.Secret{}, set, false},
	}
	for name, tc := range cases {
		if got := onRetry().Update(event.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.after}); got != tc.want {
			t.Errorf("%s: %s: got %t, want %t", name, tc.reason, got, tc.want)
		}
	}

	if p := onRetry(); p.Create(event.CreateEvent{Object: set}) || p.Delete(event.DeleteEvent{Object: set}) || p.Generic(event.GenericEvent{Object: set}) {
		t.Error("something else than an update is a retry")
	}
}

// TestPendingIsTriedOnce holds that a person who sets the phase back is served at
// once, and only once, and that this is told and timed like any other change.
func TestPendingIsTriedOnce(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.helm.installErr, w.helm.upgradeErr = errInjected, errInjected

	attempts := func(at time.Duration) int {
		t.Helper()
		w.clock.SetTime(epoch.Add(at))
		w.journal.clear()

		if _, err := w.pass(tn); !errors.Is(err, errInjected) || tn.Status.Phase != v1alpha1.PhaseFailed {
			t.Fatalf("at %s: %v, %s: %s", at, err, tn.Status.Phase, tn.Status.Message)
		}

		n := 0
		for _, a := range w.journal.take() {
			if a == install || a == upgrade {
				n++
			}
		}

		return n
	}

	for i := range 5 {
		attempts(time.Duration(i) * time.Minute)
	}

	before := *tn.Status.LastSyncedAt
	w.events.events = nil

	if n := attempts(4*time.Minute + time.Second); n != 0 || !tn.Status.LastSyncedAt.Equal(&before) || len(w.events.events) > 0 {
		t.Fatalf("while it pauses: %d attempts, last change %s, events %v", n, tn.Status.LastSyncedAt, w.events.events)
	}

	tn.Status.Phase = v1alpha1.PhasePending

	if n := attempts(4*time.Minute + 2*time.Second); n != 1 {
		t.Errorf("%d attempts when a person asks, want one", n)
	}

	if at := tn.Status.LastSyncedAt.Time; !at.Equal(epoch.Add(4*time.Minute + 2*time.Second)) {
		t.Errorf("the phase changed, and the last change was at %s", at)
	}

	for i := range 3 {
		if n := attempts(4*time.Minute + time.Duration(3+i)*time.Second); n != 0 {
			t.Errorf("one request caused another attempt, %d s later", i+1)
		}
	}
}

// TestPendingOfAReadyTenant holds that it comes to nothing where there is nothing
// to do.
func TestPendingOfAReadyTenant(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)

	tn.Status.Phase = v1alpha1.PhasePending

	if o := w.mustPass(tn); !o.ResourceUpToDate || tn.Status.Phase != v1alpha1.PhaseReady || len(w.journal.take()) > 0 {
		t.Errorf("up to date %t, %s: %s", o.ResourceUpToDate, tn.Status.Phase, tn.Status.Message)
	}
}
