// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
)

// TestSettleTellsTheTimeOfTheLastChange holds that lastSyncedAt moves only when
// something else in the status did.
func TestSettleTellsTheTimeOfTheLastChange(t *testing.T) {
	t.Parallel()

	ready := summarize([]xpv2.Condition{done(v1alpha1.TypeBoundaryReady)})
	stage := done(v1alpha1.TypeBoundaryReady)

	cases := map[string]struct {
		reason string
		// change something before the next pass.
		change func(*v1alpha1.Tenant)
		// quota that the next pass finds, by default the same.
		quota  string
		s      summary
		stages []xpv2.Condition
		moves  bool
	}{
		"Nothing": {
			reason: "the same facts are no change", change: func(*v1alpha1.Tenant) {},
			s: ready, stages: []xpv2.Condition{stage},
		},
		"Times": {
			reason: "times are no change",
			change: func(tn *v1alpha1.Tenant) {
				for i := range tn.Status.Conditions {
					tn.Status.Conditions[i].LastTransitionTime = metav1.NewTime(epoch.Add(-time.Hour))
				}
			},
			s: ready, stages: []xpv2.Condition{stage},
		},
		"Generation": {
			reason: "a new generation that changes nothing is no change",
			change: func(tn *v1alpha1.Tenant) { tn.SetGeneration(7) },
			s:      ready, stages: []xpv2.Condition{stage},
		},
		"Synced": {
			reason: "Synced is the managed reconciler's",
			change: func(tn *v1alpha1.Tenant) { tn.SetConditions(xpv2.ReconcileError(errInjected)) },
			s:      ready, stages: []xpv2.Condition{stage},
		},
		"ReconcileRequest": {
			reason: "a handled request is the managed reconciler's",
			change: func(tn *v1alpha1.Tenant) { tn.Status.SetLastHandledReconcileAt("now") },
			s:      ready, stages: []xpv2.Condition{stage},
		},
		"Accepted": {
			reason: "what was told, and whether it was heard, is the reports'",
			change: func(tn *v1alpha1.Tenant) {
				tn.Status.Report = &v1alpha1.ReportStatus{Status: v1alpha1.ReportActive, AcceptedAt: &metav1.Time{Time: epoch}}
				tn.SetConditions(done(v1alpha1.TypeReported))
			},
			s: ready, stages: []xpv2.Condition{stage},
		},
		"QuantityFormat": {
			reason: "a quantity in another form is the same", change: func(*v1alpha1.Tenant) {}, quota: "4000m",
			s: ready, stages: []xpv2.Condition{stage},
		},
		"Quantity": {
			reason: "another quantity is a change", change: func(*v1alpha1.Tenant) {}, quota: "5",
			s: ready, stages: []xpv2.Condition{stage}, moves: true,
		},
		"Phase": {
			reason: "a phase is a change", change: func(tn *v1alpha1.Tenant) { tn.Status.Phase = v1alpha1.PhaseFailed },
			s: ready, stages: []xpv2.Condition{stage}, moves: true,
		},
		"Message": {
			reason: "a message is a change", change: func(*v1alpha1.Tenant) {},
			s: summarize([]xpv2.Condition{pendingChange(v1alpha1.TypeBoundaryReady, "quota")}), stages: []xpv2.Condition{stage}, moves: true,
		},
		"Condition": {
			reason: "a condition is a change", change: func(*v1alpha1.Tenant) {},
			s: ready, stages: []xpv2.Condition{stage, done(v1alpha1.TypeAPIReachable)}, moves: true,
		},
		"Endpoint": {
			reason: "another field is a change", change: func(tn *v1alpha1.Tenant) { tn.Status.Endpoint = "" },
			s: ready, stages: []xpv2.Condition{stage}, moves: false,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().Obj()
			w.reports = true
			tn.Status.Quota = &v1alpha1.QuotaStatus{Hard: resources("4", "8Gi")}
			w.external(tn).settle(tn, ready, stage)

			if first := tn.Status.LastSyncedAt; first == nil || !first.Time.Equal(epoch) {
				t.Fatalf("the first status has no time: %v", first)
			}

			w.clock.SetTime(epoch.Add(time.Hour))
			tc.change(tn)

			e := w.external(tn)
			if tc.quota != "" {
				tn.Status.Quota = &v1alpha1.QuotaStatus{Hard: resources(tc.quota, "8Gi")}
			}

			e.settle(tn, tc.s, tc.stages...)

			if moved := !tn.Status.LastSyncedAt.Time.Equal(epoch); moved != tc.moves {
				t.Errorf("%s: lastSyncedAt moved: %t, want %t", tc.reason, moved, tc.moves)
			}
		})
	}
}

// TestSettleTwiceInOnePass holds that a pass that ends where it began has
// changed nothing: Observe settles, and so does what acts after it.
func TestSettleTwiceInOnePass(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	failed := []xpv2.Condition{notDone(v1alpha1.TypeReleaseDeployed, v1alpha1.ReasonFailed, "refused")}
	seen := []xpv2.Condition{notDone(v1alpha1.TypeReleaseDeployed, v1alpha1.ReasonWaiting, "not installed")}

	w.external(tn).settle(tn, summarize(failed), failed...)
	before := tn.Status.DeepCopy()

	w.clock.SetTime(epoch.Add(time.Hour))

	e := w.external(tn)
	e.settle(tn, summarize(seen), seen...)
	e.settle(tn, summarize(failed), failed...)

	if diff := cmp.Diff(written(t, before), written(t, &tn.Status)); diff != "" {
		t.Errorf("the status changed although the pass ended as the one before: -before, +after:\n%s", diff)
	}
}

// written is a status as it is stored. Conditions compared as they are would be
// equal whatever their times.
func written(t *testing.T, s *v1alpha1.TenantStatus) string {
	t.Helper()

	raw, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}

	return string(raw)
}

// TestSettleTellsTransitions holds that a condition's time is that of its last
// change of status, whatever its reason and message do.
func TestSettleTellsTransitions(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	ct := v1alpha1.TypeReleaseDeployed

	for i, c := range []xpv2.Condition{
		notDone(ct, v1alpha1.ReasonWaiting, "a"), notDone(ct, v1alpha1.ReasonFailed, "b"), done(ct), pendingChange(ct, "c"), notDone(ct, v1alpha1.ReasonFailed, "d"),
	} {
		w.clock.SetTime(epoch.Add(time.Duration(i) * time.Minute))
		w.external(tn).settle(tn, summarize([]xpv2.Condition{c}), c)

		want := epoch.Add([]time.Duration{0, 0, 2, 2, 4}[i] * time.Minute)
		if got := tn.GetCondition(ct).LastTransitionTime.Time; !got.Equal(want) {
			t.Errorf("after %q the last transition was at %s, want %s", c.Message, got, want)
		}
	}
}

func TestSettleKeepsOtherFields(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	tn.Status.Endpoint, tn.Status.KubeconfigSecret, tn.Status.ChartVersion = "https://a", "secret", "0.36.1"
	tn.SetConditions(xpv2.ReconcileSuccess(), done(v1alpha1.TypeAPIReachable))

	stage := notDone(v1alpha1.TypeReleaseDeployed, v1alpha1.ReasonProgressing, "working")
	w.external(tn).settle(tn, summarize([]xpv2.Condition{stage}), stage)

	s := tn.Status
	if s.Endpoint != "https://a" || s.KubeconfigSecret != "secret" || s.ChartVersion != "0.36.1" {
		t.Errorf("fields that are not settled were lost: %+v", s)
	}

	if s.VClusterName != "vc-alice-default" || s.Namespace != "vcluster-alice-default" {
		t.Errorf("names are %q and %q", s.VClusterName, s.Namespace)
	}

	for ct, want := range map[xpv2.ConditionType]xpv2.ConditionReason{
		xpv2.TypeSynced: xpv2.ReasonReconcileSuccess, v1alpha1.TypeAPIReachable: v1alpha1.ReasonDone,
		v1alpha1.TypeReleaseDeployed: v1alpha1.ReasonProgressing, xpv2.TypeReady: xpv2.ReasonCreating,
	} {
		if got := tn.GetCondition(ct); got.Reason != want {
			t.Errorf("condition %s has reason %q, want %q", ct, got.Reason, want)
		}
	}

	if got := tn.GetCondition(v1alpha1.TypeReleaseDeployed).ObservedGeneration; got != 1 {
		t.Errorf("the condition is of generation %d, want 1", got)
	}
}

func TestTruncate(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		in     string
		want   string
	}{
		"Short": {"a short message stays", "hello", "hello"},
		"Exact": {"the limit itself is allowed", strings.Repeat("a", reconciler.MaxMessageLength), strings.Repeat("a", reconciler.MaxMessageLength)},
		"OneOver": {
			"one byte too many is cut, with dots",
			strings.Repeat("a", reconciler.MaxMessageLength+1), strings.Repeat("a", reconciler.MaxMessageLength-3) + "...",
		},
		"Rune": {
			"no rune is cut in half: what cannot be decoded is stored as something else, and then counts as changed for ever",
			strings.Repeat("a", reconciler.MaxMessageLength-4) + "ééé", strings.Repeat("a", reconciler.MaxMessageLength-4) + "...",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := reconciler.Message(tc.in)
			if got != tc.want {
				t.Errorf("%s: got %d bytes that end in %q", tc.reason, len(got), got[max(0, len(got)-8):])
			}

			if !utf8.ValidString(got) || len(got) > reconciler.MaxMessageLength {
				t.Errorf("%s: %d bytes, valid UTF-8: %t", tc.reason, len(got), utf8.ValidString(got))
			}
		})
	}
}

func TestSettleCutsEveryMessage(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	stage := notDone(v1alpha1.TypeReleaseDeployed, v1alpha1.ReasonFailed, strings.Repeat("x", 5000))
	w.external(tn).settle(tn, summarize([]xpv2.Condition{stage}), stage)

	for _, m := range []string{
		tn.Status.Message, tn.GetCondition(xpv2.TypeReady).Message, tn.GetCondition(v1alpha1.TypeReleaseDeployed).Message,
	} {
		if len(m) != reconciler.MaxMessageLength {
			t.Errorf("message has %d bytes, want %d", len(m), reconciler.MaxMessageLength)
		}
	}
}
