// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/glance"
	"github.com/kubeopera/provider-kubeopera/internal/report"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
)

// reportedBy is the report that a Tenant carries, without its time.
func reportedBy(tn *v1alpha1.Tenant) v1alpha1.ReportStatus {
	if tn.Status.Report == nil {
		return v1alpha1.ReportStatus{}
	}

	out := *tn.Status.Report
	out.ObservedAt = metav1.MicroTime{}

	return out
}

// accept the report that the Tenant carries, as who delivers it does.
func accept(tn *v1alpha1.Tenant) {
	tn.Status.Report.AcceptedAt = &metav1.Time{Time: epoch}
	tn.SetConditions(xpv2.Condition{Type: v1alpha1.TypeReported, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonDone, LastTransitionTime: metav1.NewTime(epoch)})
}

// TestReports follows the reports of a Tenant through its life: one for each state,
// and none for what is no news.
func TestReports(t *testing.T) {
	t.Parallel()

	w, b := newWorld(t), alice()
	w.reports = true
	tn := b.Obj()

	fail := func(err error) func() {
		return func() {
			w.helm.installErr, w.helm.upgradeErr = err, err
			w.clock.SetTime(w.clock.Now().Add(time.Hour))
		}
	}

	for _, s := range []struct {
		reason string
		happen func()
		want   v1alpha1.ReportState
		says   string
		news   bool
		errs   bool
	}{
		{"a Tenant that is made", func() {}, v1alpha1.ReportProvisioning, "not installed yet", true, false},
		{"more of it is there: only progress", func() { w.add(controlPlane(namesOf(tn)).Obj()) }, v1alpha1.ReportProvisioning, "not installed yet", false, false},
		{"it is Ready", func() {
			w.remove(w.host, controlPlane(namesOf(tn)).Obj())
			w.bringUp(tn)
		}, v1alpha1.ReportActive, "vCluster ready", true, false},
		{"nothing changed", func() {}, v1alpha1.ReportActive, "vCluster ready", false, false},
		{"another spec that changes nothing", func() { b.SetGeneration(2) }, v1alpha1.ReportActive, "vCluster ready", true, false},
		{"the vCluster is gone and cannot be brought back", func() {
			w.remove(w.host, controlPlane(namesOf(tn)).Obj())
			w.helm.release = nil
			fail(errInjected)()
		}, v1alpha1.ReportFailed, errInjected.Error(), true, true},
		{"it fails as before", fail(errInjected), v1alpha1.ReportFailed, errInjected.Error(), false, true},
		{"it fails in another way", fail(errors.New("no space left")), v1alpha1.ReportFailed, "no space left", true, true},
		{"it comes back", func() {
			fail(nil)()
			w.add(controlPlane(namesOf(tn)).Ready().Obj())
		}, v1alpha1.ReportActive, "vCluster ready", true, false},
		{"it is deleted", func() { tn.SetDeletionTimestamp(&metav1.Time{Time: w.clock.Now()}) }, v1alpha1.ReportDeleting, "waiting for", true, false},
		{"the deletion goes on: only progress", func() {}, v1alpha1.ReportDeleting, "waiting for", false, false},
	} {
		if tn.Status.Report != nil {
			accept(tn)
		}

		w.clock.SetTime(w.clock.Now().Add(time.Minute))
		s.happen()

		before := *tn.Status.DeepCopy()

		if _, err := w.pass(tn); (err != nil) != s.errs {
			t.Fatalf("%s: %v", s.reason, err)
		}

		r := tn.Status.Report
		if r == nil || r.Status != s.want || !strings.Contains(r.Message, s.says) || r.Generation != tn.GetGeneration() {
			t.Fatalf("%s: reported %+v", s.reason, r)
		}

		c := tn.GetCondition(v1alpha1.TypeReported)

		switch {
		case s.news && (r.AcceptedAt != nil || !r.ObservedAt.Time.Equal(w.clock.Now()) || c.Status != corev1.ConditionFalse ||
			c.Reason != v1alpha1.ReasonProgressing || !strings.Contains(c.Message, fmt.Sprintf("%q is to be reported", s.want))):
			t.Errorf("%s: %+v, Reported is %s, %s: %s", s.reason, r, c.Status, c.Reason, c.Message)
		case !s.news && (!cmp.Equal(before.Report, r) || !c.Equal(before.GetCondition(v1alpha1.TypeReported)) || c.Status != corev1.ConditionTrue):
			t.Errorf("%s: was told again: %+v, Reported is %s, %s: %s", s.reason, r, c.Status, c.Reason, c.Message)
		}
	}
}

// TestReportState holds what each phase is to kubeopera-api.
func TestReportState(t *testing.T) {
	t.Parallel()

	for phase, want := range map[v1alpha1.TenantPhase]v1alpha1.ReportState{
		v1alpha1.PhasePending: v1alpha1.ReportProvisioning, v1alpha1.PhaseProvisioning: v1alpha1.ReportProvisioning,
		v1alpha1.PhaseInstallingFlux: v1alpha1.ReportProvisioning, v1alpha1.PhaseReady: v1alpha1.ReportActive,
		v1alpha1.PhaseFailed: v1alpha1.ReportFailed, v1alpha1.PhaseDeleting: v1alpha1.ReportDeleting,
	} {
		if got := reportState(phase); got != want {
			t.Errorf("phase %s is reported as %s, want %s", phase, got, want)
		}
	}
}

func TestSameReport(t *testing.T) {
	t.Parallel()

	of := func(s v1alpha1.ReportState, message string, generation int64) *v1alpha1.ReportStatus {
		return &v1alpha1.ReportStatus{Status: s, Message: message, Generation: generation}
	}

	cases := map[string]struct {
		reason     string
		last, next *v1alpha1.ReportStatus
		want       bool
	}{
		"First":        {"nothing was told yet", nil, of(v1alpha1.ReportProvisioning, "a", 1), false},
		"Progress":     {"other words of the same state", of(v1alpha1.ReportProvisioning, "a", 1), of(v1alpha1.ReportProvisioning, "b", 1), true},
		"OtherState":   {"another state", of(v1alpha1.ReportProvisioning, "a", 1), of(v1alpha1.ReportActive, "a", 1), false},
		"OtherSpec":    {"the same state of another spec", of(v1alpha1.ReportActive, "a", 1), of(v1alpha1.ReportActive, "a", 2), false},
		"SameFailure":  {"the same failure", of(v1alpha1.ReportFailed, "a", 1), of(v1alpha1.ReportFailed, "a", 1), true},
		"OtherFailure": {"another failure", of(v1alpha1.ReportFailed, "a", 1), of(v1alpha1.ReportFailed, "b", 1), false},
		"SameActive":   {"nothing has happened", of(v1alpha1.ReportActive, "a", 1), of(v1alpha1.ReportActive, "a", 1), true},
		"OtherActive":  {"a change that waits, or no longer does", of(v1alpha1.ReportActive, "a", 1), of(v1alpha1.ReportActive, "b", 1), false},
		"Recovered":    {"no longer a failure", of(v1alpha1.ReportFailed, "a", 1), of(v1alpha1.ReportActive, "a", 1), false},
		"Deleting":     {"a deletion that waits for something else", of(v1alpha1.ReportDeleting, "a", 1), of(v1alpha1.ReportDeleting, "b", 1), true},
	}
	for name, tc := range cases {
		if got := sameReport(tc.last, tc.next); got != tc.want {
			t.Errorf("%s: %s: got %t, want %t", name, tc.reason, got, tc.want)
		}
	}
}

// TestOnePassIsOneReport holds that a pass which settles the status twice has one
// report, which is that of its end.
func TestOnePassIsOneReport(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.reports = true
	w.arrive(tn)
	accept(tn)

	accepted := *tn.Status.DeepCopy()
	w.helm.release = nil
	w.remove(w.host, controlPlane(namesOf(tn)).Obj())

	e := w.external(tn)
	if _, err := e.Observe(t.Context(), tn); err != nil || reportedBy(tn).Status != v1alpha1.ReportProvisioning {
		t.Fatalf("%v, %+v", err, tn.Status.Report)
	}

	w.add(controlPlane(namesOf(tn)).Ready().Obj())
	w.clock.SetTime(epoch.Add(time.Minute))

	if _, err := e.Update(t.Context(), tn); err != nil || tn.Status.Phase != v1alpha1.PhaseReady {
		t.Fatalf("%v, %s: %s", err, tn.Status.Phase, tn.Status.Message)
	}

	if diff := cmp.Diff(accepted.Report, tn.Status.Report); diff != "" {
		t.Errorf("the pass ended as it began, and told something: -want, +got:\n%s", diff)
	}

	if c := tn.GetCondition(v1alpha1.TypeReported); c.Status != corev1.ConditionTrue || !c.LastTransitionTime.Time.Equal(epoch) {
		t.Errorf("Reported is %s since %s", c.Status, c.LastTransitionTime)
	}
}

// TestReportsAreCut holds that a message which the API would refuse is none of a report.
func TestReportsAreCut(t *testing.T) {
	t.Parallel()

	r := reportOf(alice().Obj(), summary{phase: v1alpha1.PhaseFailed, message: strings.Repeat("x", reconciler.MaxMessageLength+1)})
	if len(r.Message) != reconciler.MaxMessageLength {
		t.Errorf("the message has %d bytes", len(r.Message))
	}
}

// TestReportsAreOff holds that nothing is in the status when nothing is reported.
func TestReportsAreOff(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)

	if c := tn.GetCondition(v1alpha1.TypeReported); tn.Status.Report != nil || c.Reason != "" {
		t.Errorf("%+v, Reported is %s", tn.Status.Report, c.Status)
	}
}

// TestRefusedReportsNothing holds that a Tenant whose id or name is another's tells
// nothing of it, neither now nor when it is deleted.
func TestRefusedReportsNothing(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		there  []func(*world)
		// happen between Observe and Create.
		happen func(*world)
	}{
		"Name": {"its host namespace is another Tenant's", []func(*world){func(w *world) {
			w.add(namespaceOf(alice().Named("first").UID("uid-first").Obj()).Obj())
		}}, nil},
		"ID": {"an older Tenant has its id", []func(*world){func(w *world) {
			w.add(alice().Named("first").UID("uid-first").Born(epoch.Add(-time.Hour)).Obj())
		}}, nil},
		"Late": {"somebody was faster", nil, func(w *world) { w.add(bareNamespace("vcluster-alice-default").Obj()) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().Obj()
			w.reports = true

			for _, add := range tc.there {
				add(w)
			}

			e := w.external(tn)
			_, err := e.Observe(t.Context(), tn)

			if tc.happen != nil {
				if err != nil {
					t.Fatal(err)
				}

				tc.happen(w)
				_, err = e.Create(t.Context(), tn)
			}

			if !errors.Is(err, errConflict) {
				t.Fatalf("%s: %v", tc.reason, err)
			}

			w.store(tn, &v1alpha1.TenantStatus{})

			if c := tn.GetCondition(v1alpha1.TypeReported); tn.Status.Report != nil || c.Reason != "" {
				t.Errorf("%s: %+v, Reported is %s: %s", tc.reason, tn.Status.Report, c.Reason, c.Message)
			}

			tn.SetDeletionTimestamp(&metav1.Time{Time: epoch})

			if o := w.mustPass(tn); o.ResourceExists || tn.Status.Report != nil {
				t.Errorf("%s: when it is deleted: exists %t, %+v", tc.reason, o.ResourceExists, tn.Status.Report)
			}

			k := &keeping{}
			if err := w.finalizer(k.add).keepLast(t.Context(), tn); err != nil || len(k.kept) > 0 {
				t.Errorf("%s: kept %v, %v", tc.reason, k.kept, err)
			}
		})
	}
}

// TestNotReportedBeforeIdentity holds that a Tenant tells nothing as long as it is
// not known that its id is its own.
func TestNotReportedBeforeIdentity(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.reports = true
	w.reads.fail(1)

	if _, err := w.pass(tn); !errors.Is(err, errInjected) || tn.Status.Phase != v1alpha1.PhaseFailed || tn.Status.Report != nil {
		t.Errorf("the host cannot be read: %v, %s, reported %+v", err, tn.Status.Phase, tn.Status.Report)
	}

	c := connectTo(w, "http://127.0.0.1:1")
	c.reports = true

	if _, err := c.Connect(t.Context(), tn); err == nil || tn.Status.Phase != v1alpha1.PhaseFailed || tn.Status.Report != nil {
		t.Errorf("there is no configuration: %v, %s, reported %+v", err, tn.Status.Phase, tn.Status.Report)
	}

	w.reads.fail(0)
	w.arrive(tn)
	accept(tn)

	tn.SetConditions(xpv2.Unavailable())

	if _, err := c.Connect(t.Context(), tn); err == nil || reportedBy(tn).Status != v1alpha1.ReportFailed {
		t.Errorf("one that was told of before tells that it fails: %v, %+v", err, tn.Status.Report)
	}
}

// keeping keeps reports, or errs.
type keeping struct {
	kept []report.Report
	err  error
}

func (k *keeping) add(_ context.Context, r report.Report) error {
	if k.err == nil {
		k.kept = append(k.kept, r)
	}

	return k.err
}

// finalizer of the world, which keeps last reports there.
func (w *world) finalizer(keep keeper) finalizer {
	return finalizer{
		Finalizer: resource.NewAPIFinalizer(w.kube, managed.FinalizerName), live: w.kube, record: w.events, clock: w.clock, keep: keep,
		forget: (&connector{
			looks: glance.NewMemory(w.clock), failures: w.failures, stages: w.stages, places: w.places, unseen: w.unseen, tenants: tenantapi.NewPool(),
		}).forget,
	}
}

// TestLastReport holds that a Tenant which was told of does not go before the
// report that it is gone is kept.
func TestLastReport(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		told   bool
		off    bool
		policy xpv2.ManagementPolicies
		err    error
		kept   int
		left   bool
		events []event.Reason
	}{
		"Told":     {reason: "it was told of", told: true, kept: 1},
		"Never":    {reason: "nobody knows of it"},
		"Off":      {reason: "nothing is reported", told: true, off: true},
		"LetGo":    {reason: "its CloudSpace lives on", told: true, policy: xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate}},
		"Deletes":  {reason: "it may do little else, but delete", told: true, policy: xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionDelete}, kept: 1},
		"Default":  {reason: "it may do everything by default", told: true, policy: xpv2.ManagementPolicies{}, kept: 1},
		"NoOutbox": {reason: "a place that does not exist holds nobody back", told: true, err: fmt.Errorf("%w in namespace x", report.ErrNoOutbox), events: []event.Reason{reasonUnreported}},
		"Refused":  {reason: "one that takes nothing now does", told: true, err: errInjected, left: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, k := newWorld(t, alice().Deleted(epoch).Obj()), &keeping{err: tc.err}
			tn := read[*v1alpha1.Tenant](w, w.kube, tenantNamespace, "alice-default")
			tn.SetGeneration(3)

			if tc.policy != nil {
				tn.SetManagementPolicies(tc.policy)
			}

			if tc.told {
				tn.Status.Report = &v1alpha1.ReportStatus{Status: v1alpha1.ReportDeleting}
			}

			w.clock.SetTime(epoch.Add(time.Hour))

			f := w.finalizer(k.add)
			if tc.off {
				f.keep = nil
			}

			if err := f.RemoveFinalizer(t.Context(), tn); (err != nil) != tc.left || (tc.left && !errors.Is(err, tc.err)) {
				t.Errorf("%s: %v", tc.reason, err)
			}

			if left := has[*v1alpha1.Tenant](w, w.kube, tenantNamespace, "alice-default"); left != tc.left || len(k.kept) != tc.kept {
				t.Errorf("%s: left %t, kept %v", tc.reason, left, k.kept)
			}

			if diff := cmp.Diff(tc.events, w.events.reasons()); diff != "" {
				t.Errorf("%s: events: -want, +got:\n%s", tc.reason, diff)
			}

			want := report.Report{
				TenantUID: "uid-alice", CloudSpaceID: "7e9d3a1b-0000-4000-8000-000000000002", VClusterName: "vc-alice-default",
				Status: v1alpha1.ReportDeleted, Message: "the CloudSpace is deleted", Generation: 3, ObservedAt: epoch.Add(time.Hour),
			}
			if diff := cmp.Diff([]report.Report{want}[:tc.kept], k.kept); tc.kept > 0 && diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestRefusedTellsNothing holds that of a Tenant whose names became another's nothing
// more is told: the record of the id is the other's.
func TestRefusedTellsNothing(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.reports = true
	w.arrive(tn)

	told := tn.Status.Report.DeepCopy()
	change(w, w.host, "", aliceNamespace, func(ns *corev1.Namespace) { ns.Labels[v1alpha1.LabelTenantUID] = "uid-other" })

	if _, err := w.pass(tn); !errors.Is(err, errConflict) {
		t.Fatalf("it is not refused: %v", err)
	}

	if diff := cmp.Diff(told, tn.Status.Report); told == nil || diff != "" {
		t.Errorf("-told before, +now:\n%s", diff)
	}
}

// TestNoReportWithoutAnEnd holds that a Tenant of which anything was told cannot go
// without that being told, also one that never came to anything.
func TestNoReportWithoutAnEnd(t *testing.T) {
	t.Parallel()

	for name, refuse := range map[string]error{"Held": nil, "CannotBeHeld": errInjected} {
		w := newWorld(t, alice().Chart("0.19.0").Obj())
		w.reports = true
		w.refuseWrites = func(string) error { return refuse }

		tn := read[*v1alpha1.Tenant](w, w.kube, aliceKey.Namespace, aliceKey.Name)
		e := w.external(tn)
		e.hold = w.finalizer(nil).AddFinalizer

		if _, err := e.Observe(t.Context(), tn); err == nil || (refuse != nil && !errors.Is(err, refuse)) {
			t.Errorf("%s: %v", name, err)
		}

		stored, r := read[*v1alpha1.Tenant](w, w.kube, aliceKey.Namespace, aliceKey.Name), tn.Status.Report
		held, told := meta.FinalizerExists(stored, managed.FinalizerName), r != nil && r.Status == v1alpha1.ReportFailed

		if held != (refuse == nil) || told != held {
			t.Errorf("%s: held: %t, told: %+v", name, held, r)
		}
	}
}

// TestKeepIn holds that without an outbox nothing is kept.
func TestKeepIn(t *testing.T) {
	t.Parallel()

	if keepIn(nil) != nil {
		t.Error("something is kept nowhere")
	}

	w := newWorld(t)

	r := report.Report{TenantUID: "uid-alice", CloudSpaceID: "id", Status: v1alpha1.ReportDeleted, ObservedAt: epoch}
	if err := keepIn(report.NewOutbox(w.kube, w.kube, tenantNamespace))(t.Context(), r); err != nil {
		t.Fatal(err)
	}

	l := &corev1.ConfigMapList{}
	if err := w.kube.List(t.Context(), l); err != nil || len(l.Items) != 1 || l.Items[0].GetLabels()[report.LabelReport] != "deleted" {
		t.Errorf("%d ConfigMaps, %v", len(l.Items), err)
	}
}
