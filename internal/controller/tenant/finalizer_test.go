// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

func TestFinalizer(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		// happen after the Tenant was read.
		happen func(*world, *v1alpha1.Tenant)
		// left says whether a Tenant of the name is left.
		left bool
		errs bool
	}{
		"Unchanged": {reason: "the Tenant goes", happen: func(*world, *v1alpha1.Tenant) {}},
		"Changed": {
			reason: "a Tenant that changed meanwhile goes without a backoff",
			happen: func(w *world, tn *v1alpha1.Tenant) {
				change(w, w.kube, tn.GetNamespace(), tn.GetName(), func(o *v1alpha1.Tenant) { o.Labels = map[string]string{"a": "b"} })
			},
		},
		"Gone": {
			reason: "one that is gone is a success",
			happen: func(w *world, tn *v1alpha1.Tenant) {
				change(w, w.kube, tn.GetNamespace(), tn.GetName(), func(o *v1alpha1.Tenant) { o.Finalizers = nil })
			},
		},
		"Refused": {
			reason: "a write that is refused is an error",
			happen: func(w *world, _ *v1alpha1.Tenant) { w.refuseWrites = func(string) error { return errInjected } },
			left:   true, errs: true,
		},
		"Replaced": {
			reason: "another Tenant of the same name keeps its finalizer, or what it made would leak",
			happen: func(w *world, tn *v1alpha1.Tenant) {
				change(w, w.kube, tn.GetNamespace(), tn.GetName(), func(o *v1alpha1.Tenant) { o.Finalizers = nil })

				another := alice().UID("uid-another").Obj()
				another.SetFinalizers([]string{managed.FinalizerName})
				w.add(another)
				change(w, w.kube, tn.GetNamespace(), tn.GetName(), func(o *v1alpha1.Tenant) { o.Labels = map[string]string{"a": "b"} })
			},
			left: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, alice().Deleted(epoch).Obj())
			tn := read[*v1alpha1.Tenant](w, w.kube, tenantNamespace, "alice-default")
			tc.happen(w, tn)

			if err := w.finalizer(nil).RemoveFinalizer(t.Context(), tn); (err != nil) != tc.errs || (tc.errs && !errors.Is(err, errInjected)) {
				t.Errorf("%s: got %v", tc.reason, err)
			}

			left := has[*v1alpha1.Tenant](w, w.kube, tenantNamespace, "alice-default")
			if left != tc.left {
				t.Fatalf("%s: left is %t, want %t", tc.reason, left, tc.left)
			}

			if left && len(read[*v1alpha1.Tenant](w, w.kube, tenantNamespace, "alice-default").GetFinalizers()) == 0 {
				t.Errorf("%s: its finalizer is gone", tc.reason)
			}
		})
	}
}

// TestFinalizerWithoutALook holds that a conflict that cannot be looked into
// stays an error.
func TestFinalizerWithoutALook(t *testing.T) {
	t.Parallel()

	w := newWorld(t, alice().Deleted(epoch).Obj())
	tn := read[*v1alpha1.Tenant](w, w.kube, tenantNamespace, "alice-default")
	tn.SetResourceVersion("1")
	w.reads.fail(1)

	if err := w.finalizer(nil).RemoveFinalizer(t.Context(), tn); !errors.Is(err, errInjected) || kerrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
}

// TestAddFinalizer holds that what Observe has set stays set, and that a report
// which was accepted meanwhile stays accepted.
func TestAddFinalizer(t *testing.T) {
	t.Parallel()

	tn := alice().Obj()
	tn.SetFinalizers(nil)
	tn.Status.Report = &v1alpha1.ReportStatus{Status: v1alpha1.ReportProvisioning, ObservedAt: metav1.NewMicroTime(epoch)}

	heard := tn.DeepCopy()
	accept(heard)
	heard.Status.Message = "stored"

	w := newWorld(t, heard)
	seen := read[*v1alpha1.Tenant](w, w.kube, tenantNamespace, "alice-default")
	seen.Status.Report, seen.Status.Message = tn.Status.Report, "seen"

	if err := w.finalizer(nil).AddFinalizer(t.Context(), seen); err != nil {
		t.Fatal(err)
	}

	if seen.Status.Message != "seen" || seen.Status.Report.AcceptedAt == nil {
		t.Errorf("status: %+v, report: %+v", seen.Status, seen.Status.Report)
	}

	if got := read[*v1alpha1.Tenant](w, w.kube, tenantNamespace, "alice-default").GetFinalizers(); len(got) != 1 {
		t.Errorf("finalizers: %v", got)
	}
}

// TestMergeAcceptance holds that a report which was accepted while a pass was at work
// stays accepted, and that another one does not become so.
func TestMergeAcceptance(t *testing.T) {
	t.Parallel()

	told := alice().Obj()
	told.Status.Report = &v1alpha1.ReportStatus{Status: v1alpha1.ReportProvisioning, ObservedAt: metav1.NewMicroTime(epoch)}
	told.SetConditions(notDone(v1alpha1.TypeReported, v1alpha1.ReasonProgressing, "is to be reported"))

	heard := told.DeepCopy()
	accept(heard)

	for name, tc := range map[string]struct {
		reason  string
		change  func(*v1alpha1.TenantStatus)
		accepts bool
	}{
		"Same":    {"it is the same report", func(*v1alpha1.TenantStatus) {}, true},
		"Another": {"it is the one before", func(s *v1alpha1.TenantStatus) { s.Report.ObservedAt = metav1.NewMicroTime(epoch.Add(-time.Second)) }, false},
		"None":    {"there was none before", func(s *v1alpha1.TenantStatus) { *s = v1alpha1.TenantStatus{} }, false},
	} {
		tn, stored := told.DeepCopy(), heard.DeepCopy()
		tc.change(&stored.Status)
		mergeAcceptance(tn, stored)

		accepted := tn.Status.Report.AcceptedAt != nil
		if c := tn.GetCondition(v1alpha1.TypeReported); accepted != tc.accepts || (c.Status == corev1.ConditionTrue) != tc.accepts {
			t.Errorf("%s: %s: accepted %t, Reported is %s", name, tc.reason, accepted, c.Status)
		}
	}
}
