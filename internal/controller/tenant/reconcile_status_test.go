// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// TestR1StatusConflictsTwice holds that a status which others changed meanwhile is
// written again without a word, and that no transition is lost or told twice.
func TestR1StatusConflictsTwice(t *testing.T) {
	t.Parallel()

	w := newWorld(t, alice().Obj())
	r := w.reconciler()
	stored, _ := w.reconcile(r)
	w.bringUp(stored)

	w.events.events = nil
	refused := 0
	w.refuseWrites = func(a string) error {
		if a == "kube status Tenant alice-default" {
			refused++
			return kerrors.NewConflict(schema.GroupResource{Resource: "tenants"}, "alice-default", errInjected)
		}

		return nil
	}

	for range 2 {
		again, res := w.reconcile(r)
		if again.Status.Phase != v1alpha1.PhaseProvisioning || (!res.Requeue && res.RequeueAfter == 0) { //nolint:staticcheck // It is what the runtime uses.
			t.Errorf("%s, again %v", again.Status.Phase, res)
		}
	}

	for _, e := range w.events.events {
		// That something was done is told by the runtime, whatever becomes of the status.
		if e.Type == event.TypeWarning || e.Reason == event.Reason(v1alpha1.PhaseReady) {
			t.Errorf("told %v", e)
		}
	}

	if refused != 2 {
		t.Errorf("%d writes of the status were refused, want 2", refused)
	}

	w.refuseWrites = func(string) error { return nil }

	if stored, _ = w.reconcile(r); stored.Status.Phase != v1alpha1.PhaseReady || w.events.count(event.Reason(v1alpha1.PhaseReady)) != 1 {
		t.Errorf("%s: %s, told %v", stored.Status.Phase, stored.Status.Message, w.events.reasons())
	}
}

// TestReconcileUnseenInside holds that a Ready Tenant whose Flux cannot be looked at
// stays Ready, and that this is said to be an error.
func TestReconcileUnseenInside(t *testing.T) {
	t.Parallel()

	w := newWorld(t, alice().WithFlux("").Obj())
	r := w.reconciler()
	stored, _ := w.reconcile(r)
	w.bringUp(stored)
	w.reconcile(r)

	w.reads.failOn = "helm get flux"

	for range 3 {
		stored, _ = w.reconcile(r)
		checkStored(t, "while Flux cannot be seen", stored)

		if c := stored.GetCondition(xpv2.TypeSynced); stored.Status.Phase != v1alpha1.PhaseReady || c.Status != corev1.ConditionFalse ||
			!strings.Contains(stored.Status.Message, "cannot be looked at now") {
			t.Errorf("%s: %s, Synced is %s", stored.Status.Phase, stored.Status.Message, c.Status)
		}
	}

	w.reads.failOn = ""

	if stored, _ = w.reconcile(r); stored.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionTrue || stored.Status.Message != "vCluster and Flux ready" {
		t.Errorf("%s: %s", stored.Status.Phase, stored.Status.Message)
	}
}

// TestReconcileReports holds that what is to be told is stored with what happened,
// and that a Tenant goes only when its last report is kept.
func TestReconcileReports(t *testing.T) {
	t.Parallel()

	k := &keeping{err: errInjected}
	w := newWorld(t, alice().Obj())
	w.reports, w.keep = true, k.add
	r := w.reconciler()

	stored, _ := w.reconcile(r)
	if reportedBy(stored).Status != v1alpha1.ReportProvisioning || stored.GetCondition(v1alpha1.TypeReported).Status != corev1.ConditionFalse {
		t.Errorf("reported %+v", stored.Status.Report)
	}

	w.bringUp(stored)

	if stored, _ = w.reconcile(r); reportedBy(stored).Status != v1alpha1.ReportActive {
		t.Errorf("reported %+v", stored.Status.Report)
	}

	w.remove(w.kube, stored)

	for range 8 {
		if stored, _ = w.reconcile(r); stored == nil {
			t.Fatal("it is gone, and nobody will know")
		}
	}

	if reportedBy(stored).Status != v1alpha1.ReportDeleting || has[*corev1.Namespace](w, w.host, "", "vcluster-alice-default") {
		t.Errorf("reported %+v", stored.Status.Report)
	}

	k.err = nil

	if stored, _ = w.reconcile(r); stored != nil || len(k.kept) != 1 || k.kept[0].Status != v1alpha1.ReportDeleted {
		t.Errorf("left %v, kept %+v", stored, k.kept)
	}
}

// TestReconcilePending holds that a person who sets the phase back gets one attempt.
func TestReconcilePending(t *testing.T) {
	t.Parallel()

	w := newWorld(t, alice().Obj())
	w.helm.installErr, w.helm.upgradeErr = errInjected, errInjected
	r := w.reconciler()
	w.reconcile(r)

	attempts := func() int {
		stored, _ := w.reconcile(r)
		if stored.Status.Phase != v1alpha1.PhaseFailed {
			t.Errorf("%s: %s", stored.Status.Phase, stored.Status.Message)
		}

		done := w.doneOnHost()

		return len(done) - len(without(done, upgrade))
	}

	w.journal.clear()

	if n := attempts(); n != 0 {
		t.Fatalf("%d attempts while it pauses", n)
	}

	tn := read[*v1alpha1.Tenant](w, w.kube, aliceKey.Namespace, aliceKey.Name)
	tn.Status.Phase = v1alpha1.PhasePending

	if err := w.kube.Status().Update(t.Context(), tn); err != nil {
		t.Fatal(err)
	}

	for i, want := range []int{1, 0, 0} {
		if n := attempts(); n != want {
			t.Errorf("pass %d: %d attempts, want %d", i, n, want)
		}
	}
}
