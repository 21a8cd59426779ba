// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// TestTook holds how long a stage took: since the one before it was complete, or
// since it was lost.
func TestTook(t *testing.T) {
	t.Parallel()

	at := func(c xpv2.Condition, after time.Duration) xpv2.Condition {
		c.LastTransitionTime = metav1.NewTime(epoch.Add(after))
		return c
	}
	waiting := func(ct xpv2.ConditionType, since time.Duration) []xpv2.Condition {
		return []xpv2.Condition{at(notDone(ct, v1alpha1.ReasonWaiting, ""), since)}
	}

	const (
		boundary, release, api, published = v1alpha1.TypeBoundaryReady, v1alpha1.TypeReleaseDeployed, v1alpha1.TypeAPIReachable, v1alpha1.TypeKubeconfigPublished
		fluxed, quotaed, advised          = v1alpha1.TypeFluxReady, v1alpha1.TypeQuotaApplied, v1alpha1.TypeAdvisorReady
	)

	cases := map[string]struct {
		reason string
		before []xpv2.Condition
		after  []xpv2.Condition
		of     xpv2.ConditionType
		// looks is a Tenant that only observes.
		looks bool
		// marks are what is remembered of stages, fine the part of a second at which
		// the pass settled.
		marks map[xpv2.ConditionType]time.Duration
		fine  time.Duration
		want  time.Duration
		none  bool
	}{
		"First":        {reason: "the first stage counts from creation", after: []xpv2.Condition{at(done(boundary), 2*time.Second)}, of: boundary, want: 2 * time.Second},
		"Follows":      {reason: "a stage counts from the one before", before: waiting(api, 0), after: []xpv2.Condition{at(done(release), 2*time.Second), at(done(api), 20*time.Second)}, of: api, want: 18 * time.Second},
		"SameTime":     {reason: "one that is complete with the one before took no time", before: waiting(published, 0), after: []xpv2.Condition{at(done(api), 20*time.Second), at(done(published), 20*time.Second)}, of: published, want: 0},
		"Flux":         {reason: "Flux begins with the kubeconfig", before: waiting(fluxed, 0), after: []xpv2.Condition{at(done(published), 20*time.Second), at(done(fluxed), 27*time.Second)}, of: fluxed, want: 7 * time.Second},
		"Quota":        {reason: "and so does the quota", before: waiting(quotaed, 0), after: []xpv2.Condition{at(done(published), 20*time.Second), at(done(fluxed), 27*time.Second), at(done(quotaed), 22*time.Second)}, of: quotaed, want: 2 * time.Second},
		"Advisor":      {reason: "and the App Advisor", before: waiting(advised, 0), after: []xpv2.Condition{at(done(published), 20*time.Second), at(done(advised), 25*time.Second)}, of: advised, want: 5 * time.Second},
		"Ready":        {reason: "Ready is the whole, from creation", after: []xpv2.Condition{at(done(published), 20*time.Second), at(xpv2.Available(), 30*time.Second)}, of: xpv2.TypeReady, want: 30 * time.Second},
		"Lost":         {reason: "one that was lost counts from then", before: waiting(api, time.Hour), after: []xpv2.Condition{at(done(release), 2*time.Second), at(done(api), time.Hour+3*time.Second)}, of: api, want: 3 * time.Second},
		"LostTogether": {reason: "or from when the one before was back", before: waiting(api, time.Hour), after: []xpv2.Condition{at(done(release), time.Hour+2*time.Second), at(done(api), time.Hour+3*time.Second)}, of: api, want: time.Second},
		"LostReady":    {reason: "so does Ready", before: waiting(xpv2.TypeReady, time.Hour), after: []xpv2.Condition{at(xpv2.Available(), time.Hour+time.Minute)}, of: xpv2.TypeReady, want: time.Minute},
		"Unmanaged":    {reason: "what was taken over is complete", before: waiting(fluxed, 0), after: []xpv2.Condition{at(done(published), 20*time.Second), at(unmanaged(fluxed), 21*time.Second)}, of: fluxed, want: time.Second},
		"Late":         {reason: "a stage before that is complete later does not count", before: waiting(quotaed, 0), after: []xpv2.Condition{at(done(published), 30*time.Second), at(done(quotaed), 20*time.Second)}, of: quotaed, want: 20 * time.Second},
		"Created": {
			reason: "the first look is finer than the creation", after: []xpv2.Condition{at(done(boundary), time.Second)}, of: boundary,
			marks: map[xpv2.ConditionType]time.Duration{created: 900 * time.Millisecond}, fine: 250 * time.Millisecond, want: 350 * time.Millisecond,
		},
		"Fine": {
			reason: "what is remembered of the one before is finer than its condition", before: waiting(api, 0),
			after: []xpv2.Condition{at(done(release), 2*time.Second), at(done(api), 3*time.Second)}, of: api,
			marks: map[xpv2.ConditionType]time.Duration{release: 2800 * time.Millisecond}, fine: 100 * time.Millisecond, want: 300 * time.Millisecond,
		},
		"Forgotten": {
			reason: "what is remembered of another time is not", before: waiting(api, 0),
			after: []xpv2.Condition{at(done(release), 2*time.Second), at(done(api), 3*time.Second)}, of: api,
			marks: map[xpv2.ConditionType]time.Duration{release: 800 * time.Millisecond}, want: time.Second,
		},
		"Already":   {reason: "what was complete is no news", before: []xpv2.Condition{done(api)}, after: []xpv2.Condition{at(done(api), time.Second)}, of: api, none: true},
		"Changes":   {reason: "a change of it neither", before: []xpv2.Condition{done(release)}, after: []xpv2.Condition{at(pendingChange(release, "x"), time.Second)}, of: release, none: true},
		"NotYet":    {reason: "what is not complete took no time yet", before: waiting(api, 0), after: waiting(api, 0), of: api, none: true},
		"Skipped":   {reason: "what is not wanted took none", before: waiting(fluxed, 0), after: []xpv2.Condition{at(skipped(fluxed, "off"), time.Second)}, of: fluxed, none: true},
		"Observed":  {reason: "what is only looked at took someone else's time", before: waiting(api, 0), after: []xpv2.Condition{at(done(api), time.Second)}, of: api, looks: true, none: true},
		"OtherType": {reason: "what is no stage is not timed", after: []xpv2.Condition{at(xpv2.ReconcileSuccess(), time.Second)}, of: xpv2.TypeSynced, none: true},
		"Reported":  {reason: "nor is the report", after: []xpv2.Condition{at(done(v1alpha1.TypeReported), time.Second)}, of: v1alpha1.TypeReported, none: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().Obj()
			tn.SetConditions(tc.before...)

			if tc.looks {
				tn.SetManagementPolicies(watcher().Spec.ManagementPolicies)
			}

			e := w.external(tn)
			tn.Status.Conditions = nil
			tn.SetConditions(tc.after...)

			c := tn.GetCondition(tc.of)
			e.completed = map[xpv2.ConditionType]time.Time{tc.of: c.LastTransitionTime.Add(tc.fine)}

			for stage, after := range tc.marks {
				w.stages.mark(tn, stage, epoch.Add(after))
			}

			got, ok := e.took(tn, c)
			if ok == tc.none || got != tc.want {
				t.Errorf("%s: took %s, %t; want %s", tc.reason, got, ok, tc.want)
			}
		})
	}
}

// TestTookInASlowPass holds that a pass which is long at work, such as on Flux, does
// not make what it did before that look as long, and that Flux counts from its begin.
func TestTookInASlowPass(t *testing.T) {
	t.Parallel()

	const api, published, fluxed = v1alpha1.TypeAPIReachable, v1alpha1.TypeKubeconfigPublished, v1alpha1.TypeFluxReady

	for name, tc := range map[string]struct {
		idle        bool
		first, next map[xpv2.ConditionType]time.Duration
	}{
		"ReadyAtOnce": {false, map[xpv2.ConditionType]time.Duration{api: 20 * time.Second, published: 0, fluxed: 3 * time.Second, xpv2.TypeReady: 23 * time.Second}, nil},
		"ReadyLater": {
			true, map[xpv2.ConditionType]time.Duration{api: 20 * time.Second, published: 0},
			map[xpv2.ConditionType]time.Duration{fluxed: 7 * time.Second, xpv2.TypeReady: 27 * time.Second},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().WithFlux("").Obj()
			w.idleFlux = tc.idle
			w.mustPass(tn)
			w.bringUp(tn)

			w.flux.make = func() {
				w.clock.SetTime(w.clock.Now().Add(3 * time.Second))
				w.makeFlux()
			}

			pass := func(at time.Duration, want map[xpv2.ConditionType]time.Duration) {
				t.Helper()
				w.clock.SetTime(epoch.Add(at))

				e := w.external(tn)

				o, err := e.Observe(t.Context(), tn)
				if err == nil && !o.ResourceUpToDate {
					_, err = e.Update(t.Context(), tn)
				}

				if err != nil {
					t.Fatal(err)
				}

				w.store(tn, &e.before)

				for ct, want := range want {
					if got, ok := e.took(tn, tn.GetCondition(ct)); !ok || got != want {
						t.Errorf("%s took %s, %t; want %s", ct, got, ok, want)
					}
				}

				if err := e.Disconnect(t.Context()); err != nil {
					t.Error(err)
				}
			}

			pass(20*time.Second, tc.first)

			if tc.idle {
				w.fluxComesUp()
				pass(27*time.Second, tc.next)
			}

			if tn.Status.Phase != v1alpha1.PhaseReady {
				t.Errorf("%s: %s", tn.Status.Phase, tn.Status.Message)
			}
		})
	}
}

// TestStopwatchForgets holds that nothing is remembered of a Tenant that is Ready,
// or that is deleted: it would be for ever.
func TestStopwatchForgets(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().WithFlux("").Obj()
	w.idleFlux = true
	w.mustPass(tn)
	w.bringUp(tn)
	w.mustPass(tn)

	if got := len(w.stages.at[tn.GetUID()]); got != 6 {
		t.Errorf("%d stages are remembered while Flux comes up, want 6: %v", got, w.stages.at)
	}

	w.fluxComesUp()
	w.mustPass(tn)

	if tn.Status.Phase != v1alpha1.PhaseReady || len(w.stages.at) > 0 {
		t.Errorf("%s, remembered: %v", tn.Status.Phase, w.stages.at)
	}

	going := bob().Obj()
	w.mustPass(going)

	if len(w.stages.at) != 1 {
		t.Fatalf("remembered: %v", w.stages.at)
	}

	going.SetDeletionTimestamp(&metav1.Time{Time: epoch})
	w.mustPass(going)

	if len(w.stages.at) > 0 {
		t.Errorf("remembered of one that is deleted: %v", w.stages.at)
	}
}

// TestEveryStageFollows holds that each stage but the first has one before it, so
// that none counts from creation by mistake.
func TestEveryStageFollows(t *testing.T) {
	t.Parallel()

	for i, ct := range stageTypes[1:] {
		before, ok := follows[ct]
		if !ok {
			t.Errorf("%s follows nothing", ct)
		}

		found := false
		for _, earlier := range stageTypes[:i+1] {
			found = found || earlier == before
		}

		if !found {
			t.Errorf("%s follows %s, which does not come before it", ct, before)
		}
	}
}

// TestOneEventAPhase follows the events of a Tenant's life: one for each other
// phase, none for what two looks in one pass saw in between.
func TestOneEventAPhase(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().WithFlux("").Obj()
	w.idleFlux = true

	type told struct {
		kind   event.Type
		reason event.Reason
		says   string
	}

	for _, s := range []struct {
		reason string
		happen func()
		errs   bool
		want   *told
	}{
		{"it is made in one pass, which looks twice", func() {}, false, &told{event.TypeNormal, "Provisioning", ""}},
		{"more of it is there", func() { w.add(controlPlane(namesOf(tn)).Obj()) }, false, nil},
		{"Flux is installed", func() {
			w.remove(w.host, controlPlane(namesOf(tn)).Obj())
			w.bringUp(tn)
		}, false, &told{event.TypeNormal, "InstallingFlux", "kustomize-controller"}},
		{"it is waited for", func() {}, false, nil},
		{"it is Ready", w.fluxComesUp, false, &told{event.TypeNormal, "Ready", "vCluster and Flux ready"}},
		{"nothing changed", func() {}, false, nil},
		{"it fails", func() {
			w.helm.release, w.helm.installErr, w.helm.upgradeErr = nil, errInjected, errInjected
			w.remove(w.host, controlPlane(namesOf(tn)).Obj())
		}, true, &told{event.TypeWarning, "Failed", errInjected.Error()}},
		{"it fails alike", func() {}, true, nil},
		{"it fails alike after its pause", func() { w.clock.SetTime(epoch.Add(time.Hour)) }, true, nil},
		{"it fails in another way", func() {
			w.clock.SetTime(epoch.Add(2 * time.Hour))
			w.helm.upgradeErr = errors.New("no space left")
		}, true, &told{event.TypeWarning, "Failed", "no space left"}},
		{"it comes back", func() {
			w.clock.SetTime(epoch.Add(3 * time.Hour))
			w.helm.upgradeErr = nil
			w.add(controlPlane(namesOf(tn)).Ready().Obj())
		}, false, &told{event.TypeNormal, "Ready", ""}},
		{"it is deleted", func() { tn.SetDeletionTimestamp(&metav1.Time{Time: w.clock.Now()}) }, false, &told{event.TypeNormal, "Deleting", "waiting for"}},
		{"the deletion goes on", func() {}, false, nil},
	} {
		s.happen()
		w.events.events = nil

		if _, err := w.pass(tn); (err != nil) != s.errs {
			t.Fatalf("%s: %v", s.reason, err)
		}

		if s.want == nil {
			if len(w.events.events) > 0 {
				t.Errorf("%s: told %v", s.reason, w.events.events)
			}

			continue
		}

		if len(w.events.events) != 1 {
			t.Errorf("%s: told %v, want one event", s.reason, w.events.events)
			continue
		}

		e := w.events.events[0]
		if e.Type != s.want.kind || e.Reason != s.want.reason || !strings.Contains(e.Message, s.want.says) || e.Message != tn.Status.Message {
			t.Errorf("%s: told %+v of %q", s.reason, e, tn.Status.Message)
		}
	}
}

// TestPassThatEndsAsItBegan holds that what Observe saw and Update mended is no
// transition.
func TestPassThatEndsAsItBegan(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)
	w.remove(w.kube, read[*corev1.Secret](w, w.kube, tenantNamespace, publishedName))
	w.mustPass(tn)

	if diff := cmp.Diff([]event.Reason(nil), w.events.reasons()); diff != "" || !has[*corev1.Secret](w, w.kube, tenantNamespace, publishedName) {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestUnstoredIsNotTold holds that a pass whose status was not stored tells
// nothing, and that one which never settled neither does.
func TestUnstoredIsNotTold(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	e := w.external(tn)

	if err := e.Disconnect(t.Context()); err != nil || len(w.events.events) > 0 {
		t.Errorf("nothing was looked at: %v, told %v", err, w.events.events)
	}

	if _, err := e.Observe(t.Context(), tn); err != nil {
		t.Fatal(err)
	}

	if _, err := e.Create(t.Context(), tn); err != nil {
		t.Fatal(err)
	}

	if err := e.Disconnect(t.Context()); err != nil || len(w.events.events) > 0 {
		t.Errorf("the status was not stored: %v, told %v", err, w.events.events)
	}

	tn.SetResourceVersion("2")

	if err := e.Disconnect(t.Context()); err != nil || w.events.count(event.Reason(v1alpha1.PhaseProvisioning)) != 1 {
		t.Errorf("the status was stored: %v, told %v", err, w.events.events)
	}
}

// TestCollectors holds that the times of all stages, and of the whole, reach the metric.
func TestCollectors(t *testing.T) {
	t.Parallel()

	newWorld(t).arrive(alice().WithFlux("").Advisor("advisor:v1").Obj())

	if got, want := testutil.CollectAndCount(Collectors()[0], "kubeopera_tenant_stage_seconds"), len(stageTypes)+1; got != want {
		t.Errorf("%d stages are timed, want %d", got, want)
	}
}
