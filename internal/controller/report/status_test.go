// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/report"
)

// Something changes the Tenant while its report is on the way.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		change   func(w *world)
		accepted bool
		put      []string
	}{
		"Status": {
			reason:   "the acceptance belongs to the report, whatever else has changed",
			change:   func(w *world) { w.change(func(a *v1alpha1.Tenant) { a.Status.Phase = v1alpha1.PhaseReady }) },
			accepted: true, put: []string{"uid-alice/provisioning"},
		},
		"Report": {
			reason: "another report was not accepted",
			change: func(w *world) {
				w.change(func(a *v1alpha1.Tenant) { reporting(a, v1alpha1.ReportActive, time.Minute) })
			},
			put: []string{"uid-alice/provisioning", "uid-alice/active"},
		},
		"NextOccurrence": {
			reason: "the same state later is another report",
			change: func(w *world) {
				w.change(func(a *v1alpha1.Tenant) { reporting(a, v1alpha1.ReportProvisioning, time.Minute) })
			},
			put: []string{"uid-alice/provisioning", "uid-alice/provisioning"},
		},
		"Replaced": {
			reason: "another Tenant of the name has reported nothing yet",
			change: func(w *world) {
				next := reporting(alice(), v1alpha1.ReportProvisioning, 0)
				next.SetUID("uid-next")

				if err := errors.Join(w.kube.Delete(w.t.Context(), w.tenant("alice")), w.kube.Create(w.t.Context(), next)); err != nil {
					w.t.Fatal(err)
				}
			},
			put: []string{"uid-alice/provisioning", "uid-next/provisioning"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, reporting(alice(), v1alpha1.ReportProvisioning, 0))
			w.refuse = func(report.Report) error {
				if w.attempts == 1 {
					tc.change(w)
				}

				return nil
			}

			w.mustReconcile(aliceID)

			if got := w.tenant("alice"); (got.Status.Report.AcceptedAt != nil) != tc.accepted {
				t.Errorf("%s: accepted at %v, want it accepted: %t", tc.reason, got.Status.Report.AcceptedAt, tc.accepted)
			}

			w.mustReconcile(aliceID)

			if diff := cmp.Diff(tc.put, w.put); diff != "" || w.tenant("alice").Status.Report.AcceptedAt == nil {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestGoneMeanwhile(t *testing.T) {
	t.Parallel()

	for name, err := range map[string]error{"Accepted": nil, "Refused": &report.Error{}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, reporting(alice(), v1alpha1.ReportDeleting, 0))
			w.refuse = func(report.Report) error {
				if derr := w.kube.Delete(t.Context(), w.tenant("alice")); derr != nil {
					t.Error(derr)
				}

				return err
			}

			if _, err := w.reconcile(aliceID); err != nil {
				t.Errorf("that a Tenant has gone is no error: %v", err)
			}

			w.refuse = func(report.Report) error { return nil }
			w.mustReconcile(aliceID)

			if len(w.r.memory.by) != 0 {
				t.Error("a Tenant that is gone is remembered")
			}
		})
	}
}

// The cache has not seen yet that the report was accepted.
func TestStaleCache(t *testing.T) {
	t.Parallel()

	w := newWorld(t, reporting(alice(), v1alpha1.ReportActive, 0))
	w.lag()

	for range 3 {
		w.mustReconcile(aliceID)
	}

	if w.attempts != 1 || len(w.writes) != 1 {
		t.Errorf("%d attempts and %d writes, want one each", w.attempts, len(w.writes))
	}
}

// A Tenant that is written to all the time is marked later, and reports once.
func TestConflictWithoutEnd(t *testing.T) {
	t.Parallel()

	conflict := kerrors.NewConflict(schema.GroupResource{Resource: "tenants"}, "alice", errInjected)

	w := newWorld(t, reporting(alice(), v1alpha1.ReportActive, 0))
	w.fail = func(action string) error { return map[string]error{"update alice": conflict}[action] }

	if _, err := w.reconcile(aliceID); !kerrors.IsConflict(err) {
		t.Fatalf("got %v, want the conflict", err)
	}

	w.fail = func(string) error { return nil }
	w.mustReconcile(aliceID)

	if w.attempts != 1 || w.tenant("alice").Status.Report.AcceptedAt == nil {
		t.Errorf("%d attempts, accepted at %v; want one that is accepted", w.attempts, w.tenant("alice").Status.Report.AcceptedAt)
	}
}

func TestFailureCannotBeWritten(t *testing.T) {
	t.Parallel()

	w := newWorld(t, reporting(alice(), v1alpha1.ReportActive, 0))
	w.refuse = refusing(time.Minute)
	w.fail = func(action string) error { return map[string]error{"update alice": errInjected}[action] }

	if res, err := w.reconcile(aliceID); !errors.Is(err, errInjected) || res != (reconcile.Result{}) {
		t.Fatalf("got %+v, %v", res, err)
	}

	if res, err := w.reconcile(aliceID); err != nil || res.RequeueAfter != time.Minute || w.attempts != 1 {
		t.Errorf("got %+v, %v after %d attempts; want that the server is left alone all the same", res, err, w.attempts)
	}
}

// Of several Tenants of one id one was reported, one has nothing to add to its
// last report, and one was refused.
func TestFailureBelongsToThePending(t *testing.T) {
	t.Parallel()

	w := newWorld(t, reporting(alice(), v1alpha1.ReportActive, 0), as(reporting(alice(), v1alpha1.ReportProvisioning, time.Minute), "bob", aliceID),
		as(reporting(alice(), v1alpha1.ReportDeleting, 0), "going", aliceID))
	w.box("uid-going", time.Minute)
	w.refuse = func(r report.Report) error {
		if r.TenantUID == "uid-bob" {
			return &report.Error{}
		}

		return nil
	}

	if _, err := w.reconcile(aliceID); err != nil {
		t.Fatal(err)
	}

	for name, want := range map[string]xpv2.ConditionReason{"alice": v1alpha1.ReasonDone, "bob": v1alpha1.ReasonFailed, "going": v1alpha1.ReasonProgressing} {
		if got := w.tenant(name).GetCondition(v1alpha1.TypeReported); got.Reason != want {
			t.Errorf("%s: got %+v, want %s", name, got, want)
		}
	}
}

// What was accepted has not failed, even if that could not be written yet.
func TestFailureSparesTheAccepted(t *testing.T) {
	t.Parallel()

	w := newWorld(t, reporting(alice(), v1alpha1.ReportActive, 0))
	w.fail = func(action string) error { return map[string]error{"update alice": errInjected}[action] }

	if _, err := w.reconcile(aliceID); !errors.Is(err, errInjected) {
		t.Fatalf("got %v", err)
	}

	w.fail = func(string) error { return nil }
	w.box("uid-before", 0)
	w.refuse = refusing(0)

	if _, err := w.reconcile(aliceID); err != nil || w.writes != nil {
		t.Errorf("got %v and %q, want no write into a Tenant whose report was accepted", err, w.writes)
	}
}
