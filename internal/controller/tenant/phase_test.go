// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// stageTypes are the stages in their order.
var stageTypes = []xpv2.ConditionType{
	v1alpha1.TypeBoundaryReady, v1alpha1.TypeReleaseDeployed, v1alpha1.TypeAPIReachable, v1alpha1.TypeKubeconfigPublished,
	v1alpha1.TypeDNSReady, v1alpha1.TypeFluxReady, v1alpha1.TypeQuotaApplied, v1alpha1.TypeAdvisorReady,
}

func TestSummarize(t *testing.T) {
	t.Parallel()

	const boundary, release, api, published = v1alpha1.TypeBoundaryReady, v1alpha1.TypeReleaseDeployed,
		v1alpha1.TypeAPIReachable, v1alpha1.TypeKubeconfigPublished

	type want struct {
		phase   v1alpha1.TenantPhase
		reason  xpv2.ConditionReason
		message string
	}

	cases := map[string]struct {
		reason string
		stages []xpv2.Condition
		want   want
	}{
		"Nothing": {
			reason: "the first stage waits: nothing was made",
			stages: []xpv2.Condition{notDone(boundary, v1alpha1.ReasonWaiting, "no namespace"), notDone(release, v1alpha1.ReasonWaiting, "no release")},
			want:   want{v1alpha1.PhasePending, xpv2.ReasonCreating, messagePending},
		},
		"LaterStageWaits": {
			reason: "only a first stage that waits is Pending",
			stages: []xpv2.Condition{done(boundary), notDone(release, v1alpha1.ReasonWaiting, "not installed")},
			want:   want{v1alpha1.PhaseProvisioning, xpv2.ReasonCreating, "not installed"},
		},
		"FirstProgresses": {
			reason: "the first stage was started",
			stages: []xpv2.Condition{notDone(boundary, v1alpha1.ReasonProgressing, "no quota yet"), done(release)},
			want:   want{v1alpha1.PhaseProvisioning, xpv2.ReasonCreating, "no quota yet"},
		},
		"FirstIncompleteDecides": {
			reason: "a failure after a stage that progresses does not count yet",
			stages: []xpv2.Condition{done(boundary), notDone(release, v1alpha1.ReasonProgressing, "locked"), notDone(api, v1alpha1.ReasonFailed, "no")},
			want:   want{v1alpha1.PhaseProvisioning, xpv2.ReasonCreating, "locked"},
		},
		"Failed": {
			reason: "a failure is Failed, with its cause",
			stages: []xpv2.Condition{done(boundary), notDone(release, v1alpha1.ReasonFailed, "refused"), notDone(api, v1alpha1.ReasonProgressing, "later")},
			want:   want{v1alpha1.PhaseFailed, xpv2.ReasonUnavailable, "refused"},
		},
		"Conflict": {
			reason: "a conflict is Failed too",
			stages: []xpv2.Condition{notDone(boundary, v1alpha1.ReasonConflict, "taken by bob")},
			want:   want{v1alpha1.PhaseFailed, xpv2.ReasonUnavailable, "taken by bob"},
		},
		"Ready": {
			reason: "all stages are complete",
			stages: []xpv2.Condition{done(boundary), done(release), done(api), done(published)},
			want:   want{v1alpha1.PhaseReady, xpv2.ReasonAvailable, "vCluster ready"},
		},
		"ReadyWithPendingChange": {
			reason: "a change that waits leaves a Tenant Ready and says what waits",
			stages: []xpv2.Condition{done(boundary), pendingChange(release, "registry is down"), done(api), done(published)},
			want:   want{v1alpha1.PhaseReady, xpv2.ReasonAvailable, "vCluster ready" + "; a change waits: registry is down"},
		},
		"PendingChangeBeforeFailure": {
			reason: "a change that waits does not hide a failure",
			stages: []xpv2.Condition{pendingChange(boundary, "quota"), done(release), notDone(api, v1alpha1.ReasonFailed, "unusable")},
			want:   want{v1alpha1.PhaseFailed, xpv2.ReasonUnavailable, "unusable"},
		},
		"FirstPendingChange": {
			reason: "of two changes that wait the first is named",
			stages: []xpv2.Condition{pendingChange(boundary, "quota"), pendingChange(release, "values")},
			want:   want{v1alpha1.PhaseReady, xpv2.ReasonAvailable, "vCluster ready" + "; a change waits: quota"},
		},
		"InstallingFlux": {
			reason: "what is inside is the last of it",
			stages: []xpv2.Condition{done(published), notDone(v1alpha1.TypeFluxReady, v1alpha1.ReasonProgressing, "no pods")},
			want:   want{v1alpha1.PhaseInstallingFlux, xpv2.ReasonCreating, "no pods"},
		},
		"InstallingQuota": {
			reason: "the quota and the App Advisor too",
			stages: []xpv2.Condition{done(v1alpha1.TypeFluxReady), notDone(v1alpha1.TypeQuotaApplied, v1alpha1.ReasonWaiting, "no quota")},
			want:   want{v1alpha1.PhaseInstallingFlux, xpv2.ReasonCreating, "no quota"},
		},
		"FluxFailed": {
			reason: "what fails inside is Failed",
			stages: []xpv2.Condition{done(published), notDone(v1alpha1.TypeFluxReady, v1alpha1.ReasonFailed, "no chart")},
			want:   want{v1alpha1.PhaseFailed, xpv2.ReasonUnavailable, "no chart"},
		},
		"UnknownStatus": {
			reason: "what is not True is not complete",
			stages: []xpv2.Condition{{Type: boundary, Status: corev1.ConditionUnknown, Message: "who knows"}},
			want:   want{v1alpha1.PhaseProvisioning, xpv2.ReasonCreating, "who knows"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := summarize(tc.stages)
			if diff := cmp.Diff(tc.want, want{s.phase, s.ready.Reason, s.message}, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			checkSummary(t, tc.stages, s)
		})
	}
}

// TestSummarizeEveryCombination holds what must be true of any stages at all:
// every state of two stages on the host and of two inside, in every combination.
func TestSummarizeEveryCombination(t *testing.T) {
	t.Parallel()

	states := []func(xpv2.ConditionType) xpv2.Condition{
		done,
		func(ct xpv2.ConditionType) xpv2.Condition { return pendingChange(ct, string(ct)+" is to change") },
		func(ct xpv2.ConditionType) xpv2.Condition { return skipped(ct, string(ct)+" is off") },
		unmanaged,
	}
	some := []xpv2.ConditionType{v1alpha1.TypeBoundaryReady, v1alpha1.TypeKubeconfigPublished, v1alpha1.TypeFluxReady, v1alpha1.TypeAdvisorReady}

	for _, r := range []xpv2.ConditionReason{
		v1alpha1.ReasonWaiting, v1alpha1.ReasonProgressing, v1alpha1.ReasonFailed, v1alpha1.ReasonConflict, v1alpha1.ReasonRemoving, "",
	} {
		states = append(states, func(ct xpv2.ConditionType) xpv2.Condition { return notDone(ct, r, string(ct)+" "+string(r)) })
	}

	combinations := [][]xpv2.Condition{nil}
	for _, ct := range some {
		var longer [][]xpv2.Condition

		for _, c := range combinations {
			for _, state := range states {
				longer = append(longer, append(append([]xpv2.Condition{}, c...), state(ct)))
			}
		}

		combinations = longer
	}

	if want := 10 * 10 * 10 * 10; len(combinations) != want {
		t.Fatalf("want %d combinations, got %d", want, len(combinations))
	}

	for _, stages := range combinations {
		checkSummary(t, stages, summarize(stages))

		for _, ct := range some {
			reordered := failureFirst(stages, ct)
			if len(reordered) != len(stages) || reordered[0].Type != ct {
				t.Fatalf("failureFirst(%q) lost or misplaced a stage: %v", ct, reordered)
			}

			checkSummary(t, reordered, summarize(reordered))
		}
	}
}

func unmanaged(ct xpv2.ConditionType) xpv2.Condition {
	return xpv2.Condition{Type: ct, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonUnmanaged, Message: string(ct) + " is the tenant's"}
}

// checkSummary holds that phase, Ready condition and message agree.
func checkSummary(t *testing.T, stages []xpv2.Condition, s summary) {
	t.Helper()

	complete, inside := true, true

	for _, c := range stages {
		if complete && c.Status != corev1.ConditionTrue {
			complete = false
			inside = c.Type == v1alpha1.TypeDNSReady || c.Type == v1alpha1.TypeFluxReady || c.Type == v1alpha1.TypeQuotaApplied || c.Type == v1alpha1.TypeAdvisorReady
		}
	}

	agrees := map[v1alpha1.TenantPhase]struct {
		status corev1.ConditionStatus
		reason xpv2.ConditionReason
	}{
		v1alpha1.PhasePending:        {corev1.ConditionFalse, xpv2.ReasonCreating},
		v1alpha1.PhaseProvisioning:   {corev1.ConditionFalse, xpv2.ReasonCreating},
		v1alpha1.PhaseInstallingFlux: {corev1.ConditionFalse, xpv2.ReasonCreating},
		v1alpha1.PhaseFailed:         {corev1.ConditionFalse, xpv2.ReasonUnavailable},
		v1alpha1.PhaseReady:          {corev1.ConditionTrue, xpv2.ReasonAvailable},
	}

	want, known := agrees[s.phase]

	switch {
	case !known:
		t.Errorf("phase %q is no phase of a Tenant that lives: %v", s.phase, stages)
	case s.ready.Type != xpv2.TypeReady || s.ready.Status != want.status || s.ready.Reason != want.reason:
		t.Errorf("phase %s does not go with Ready=%s, %s: %v", s.phase, s.ready.Status, s.ready.Reason, stages)
	case (s.phase == v1alpha1.PhaseReady) != complete:
		t.Errorf("phase %s, while all stages complete is %t: %v", s.phase, complete, stages)
	case s.phase != v1alpha1.PhaseReady && s.ready.Message != s.message:
		t.Errorf("message %q and that of Ready, %q, differ: %v", s.message, s.ready.Message, stages)
	case s.phase == v1alpha1.PhaseReady && !strings.HasPrefix(s.message, readyMessage(stages)):
		t.Errorf("message %q of a Ready Tenant: %v", s.message, stages)
	case s.phase == v1alpha1.PhaseInstallingFlux && !inside, s.phase == v1alpha1.PhaseProvisioning && inside:
		t.Errorf("phase %s, while the first stage that is not complete is inside: %t: %v", s.phase, inside, stages)
	case s.refused && s.phase != v1alpha1.PhaseFailed:
		t.Errorf("refused, and %s: %v", s.phase, stages)
	}
}

// TestReadyMessage holds what of it is named.
func TestReadyMessage(t *testing.T) {
	t.Parallel()

	const fluxed, advised = v1alpha1.TypeFluxReady, v1alpha1.TypeAdvisorReady

	cases := map[string]struct {
		reason string
		stages []xpv2.Condition
		want   string
	}{
		"All":       {"what people wait for", []xpv2.Condition{done(v1alpha1.TypeBoundaryReady), done(fluxed), done(v1alpha1.TypeQuotaApplied), done(advised)}, "vCluster, Flux and App Advisor ready"},
		"NoFlux":    {"Flux is turned off", []xpv2.Condition{skipped(fluxed, "off"), done(advised)}, "vCluster and App Advisor ready"},
		"TheirFlux": {"Flux is the tenant's", []xpv2.Condition{unmanaged(fluxed), done(advised)}, "vCluster and App Advisor ready"},
		"NoAdvisor": {"there is no App Advisor", []xpv2.Condition{done(fluxed), skipped(advised, "no image")}, "vCluster and Flux ready"},
		"Neither":   {"neither", []xpv2.Condition{skipped(fluxed, "off"), done(v1alpha1.TypeQuotaApplied), skipped(advised, "no image")}, "vCluster ready"},
		"Changing":  {"what works and is to change is there", []xpv2.Condition{pendingChange(fluxed, "values"), done(advised)}, "vCluster, Flux and App Advisor ready"},
	}
	for name, tc := range cases {
		if got := readyMessage(tc.stages); got != tc.want {
			t.Errorf("%s: %s: got %q, want %q", name, tc.reason, got, tc.want)
		}
	}

	s := summarizeUnknown(cases["All"].stages, "no route")
	if want := "vCluster, Flux and App Advisor ready when it was last seen, and cannot be looked at now: no route"; s.message != want || s.phase != v1alpha1.PhaseReady || s.ready.Status != corev1.ConditionTrue {
		t.Errorf("not to know is %s: %q, want %q", s.phase, s.message, want)
	}
}

// TestRefused holds that only a conflict about the Tenant's own names refuses it.
func TestRefused(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		stage xpv2.Condition
		want  bool
	}{
		"Names":    {notDone(v1alpha1.TypeBoundaryReady, v1alpha1.ReasonConflict, "taken"), true},
		"Boundary": {notDone(v1alpha1.TypeBoundaryReady, v1alpha1.ReasonFailed, "no quota"), false},
		"Secret":   {notDone(v1alpha1.TypeKubeconfigPublished, v1alpha1.ReasonConflict, "taken"), false},
		"Child":    {notDone(v1alpha1.TypeAdvisorReady, v1alpha1.ReasonConflict, "taken"), false},
		"Done":     {done(v1alpha1.TypeBoundaryReady), false},
	} {
		if got := summarize([]xpv2.Condition{tc.stage}).refused; got != tc.want {
			t.Errorf("%s: refused is %t, want %t", name, got, tc.want)
		}
	}
}

func TestSummarizeDeletion(t *testing.T) {
	t.Parallel()

	s := summarizeDeletion("waiting for namespace")
	if s.phase != v1alpha1.PhaseDeleting || !s.ready.Equal(xpv2.Deleting()) || s.message != "waiting for namespace" {
		t.Errorf("phase, message or Ready of a deletion, which is the runtime's, is another: %+v", s)
	}
}
