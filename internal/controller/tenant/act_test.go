// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// biggerVolume is a change that a running vCluster must not see.
const biggerVolume = `{"controlPlane": {"statefulSet": {"persistence": {"volumeClaim": {"size": "10Gi"}}}}}`

// synced is an override that no Tenant may set: NetworkPolicies from inside would open the wall.
const synced = `{"sync": {"toHost": {"networkPolicies": {"enabled": true}}}}`

const (
	install = "helm install vc-alice-default"
	upgrade = "helm upgrade vc-alice-default"
	unlock  = "helm unlock vc-alice-default"
	resize  = "host patch ResourceQuota kubeopera-tenant"
	requota = "kube update TenantQuota alice-default"
)

// TestActOnTheRelease holds what is done in each state of a release of a Tenant
// that was Ready.
func TestActOnTheRelease(t *testing.T) {
	t.Parallel()

	status := func(s helm.Status) func(*world, tenantBuilder) {
		return func(w *world, _ tenantBuilder) { w.helm.release.Status = s }
	}

	// unready is the one event that a Tenant which is no longer Ready has.
	unready := []event.Reason{event.Reason(v1alpha1.PhaseProvisioning)}

	cases := map[string]struct {
		reason string
		change func(*world, tenantBuilder)
		later  time.Duration
		writes []string
		events []event.Reason
	}{
		"InSync":                   {reason: "nothing to do", change: func(*world, tenantBuilder) {}},
		"H2: revision 1 is failed": {reason: "it is upgraded, never uninstalled", change: status(helm.StatusFailed), writes: []string{upgrade}},
		"Uninstalled":              {reason: "one that somebody uninstalled is installed", change: status(helm.StatusUninstalled), writes: []string{install}},
		"Gone":                     {reason: "one that is gone is installed", change: func(w *world, _ tenantBuilder) { w.helm.release = nil }, writes: []string{install}},
		"ComingUp": {
			reason: "what is not there yet is not gone", later: settleTime - time.Nanosecond,
			change: func(w *world, b tenantBuilder) { w.remove(w.host, controlPlane(namesOf(b.Obj())).Obj()) }, events: unready,
		},
		"Values": {reason: "changed values are upgraded", change: func(_ *world, b tenantBuilder) { b.Overrides(`{"a": 1}`) }, writes: []string{upgrade}},
		"Chart":  {reason: "so is another chart", change: func(_ *world, b tenantBuilder) { b.Chart("0.36.2") }, writes: []string{upgrade}},
		"Quota": {
			reason: "the wall follows in one pass, without Helm",
			change: func(_ *world, b tenantBuilder) { *b.Spec.Quota.CPU = resource.MustParse("9") }, writes: []string{resize, requota},
		},
		"QuotaByHand": {
			reason: "a wall that somebody lowers is raised",
			change: func(w *world, _ tenantBuilder) {
				change(w, w.host, "vcluster-alice-default", wallName, func(q *corev1.ResourceQuota) { q.Spec.Hard = nil })
			},
			writes: []string{resize},
		},
		"NoLimits": {
			reason: "limits that somebody deletes come back",
			change: func(w *world, _ tenantBuilder) {
				w.remove(w.host, read[*corev1.LimitRange](w, w.host, "vcluster-alice-default", wallName))
			},
			writes: []string{"host create LimitRange kubeopera-tenant"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, b := newWorld(t), alice()
			w.arrive(b.Obj())
			tc.change(w, b)
			w.clock.SetTime(epoch.Add(tc.later))

			o := w.mustPass(b.Obj())

			var got []string

			for _, a := range w.journal.take() {
				// Which is there already is found out by trying to create it.
				if a != "host create Namespace vcluster-alice-default" {
					got = append(got, a)
				}
			}

			if diff := cmp.Diff(tc.writes, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			if o.ResourceUpToDate != (len(tc.writes) == 0) || !o.ResourceExists {
				t.Errorf("%s: exists %t, up to date %t", tc.reason, o.ResourceExists, o.ResourceUpToDate)
			}

			if diff := cmp.Diff(tc.events, w.events.reasons()); diff != "" {
				t.Errorf("%s: events: -want, +got:\n%s", tc.reason, diff)
			}

			if len(tc.writes) > 0 && w.helm.release.Status != helm.StatusDeployed {
				t.Errorf("%s: the release is %s", tc.reason, w.helm.release.Status)
			}
		})
	}
}

// TestRefusedChange holds that a change that cannot be made leaves a Tenant
// Ready, that the wall follows all the same, and that Helm never runs.
func TestRefusedChange(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(tenantBuilder)
		wall   bool
		is     error
		says   string
	}{
		"H6: volume of 5Gi to 10Gi":         {"the field is named", func(b tenantBuilder) { b.Overrides(biggerVolume) }, true, vcluster.ErrImmutableValue, `cannot change controlPlane.statefulSet.persistence.volumeClaim.size from "5Gi" to "10Gi"`},
		"OlderChart":                        {"an older chart", func(b tenantBuilder) { b.Chart("0.35.0") }, true, vcluster.ErrImmutableValue, "vcluster.chartVersion"},
		"Distro":                            {"a distro switch by the chart", func(b tenantBuilder) { b.Chart("0.30.4") }, true, vcluster.ErrImmutableValue, "distro"},
		"C4: value that the schema refuses": {"the schema's path", func(b tenantBuilder) { b.Overrides(`{"refused": 1}`) }, true, helm.ErrValuesRefused, "refused"},
		"C4: unknown chart version":         {"the registry has it not", func(b tenantBuilder) { b.Chart("0.36.9") }, true, helm.ErrChartNotFound, "0.36.9"},
		"NotAllowed":                        {"a value that no Tenant may set", func(b tenantBuilder) { b.Overrides(synced) }, false, vcluster.ErrOverrideNotAllowed, "sync.toHost.networkPolicies.enabled"},
		"Invalid":                           {"what cannot become values makes no wall", func(b tenantBuilder) { b.Overrides(`[]`) }, false, nil, "valuesOverrides"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, b := newWorld(t), alice()
			if name == "NotAllowed" {
				w.defaults.AllowedValuesOverrides = nil
			}

			tn := b.Obj()
			w.arrive(tn)
			running := *w.helm.release

			tc.change(b)
			*b.Spec.Quota.CPU = resource.MustParse("9")
			b.SetGeneration(2)

			for range 3 {
				_, err := w.pass(tn)
				if err == nil || !strings.Contains(err.Error(), tc.says) || (tc.is != nil && !errors.Is(err, tc.is)) {
					t.Fatalf("%s: got %v", tc.reason, err)
				}

				c := tn.GetCondition(v1alpha1.TypeReleaseDeployed)
				if tn.Status.Phase != v1alpha1.PhaseReady || c.Reason != v1alpha1.ReasonPendingChange || !strings.Contains(tn.Status.Message, tc.says) {
					t.Errorf("%s: %s, %s: %s", tc.reason, tn.Status.Phase, c.Reason, tn.Status.Message)
				}

				w.clock.SetTime(w.clock.Now().Add(time.Hour))
			}

			if diff := cmp.Diff(running, *w.helm.release); diff != "" {
				t.Errorf("%s: the release was touched: %s", tc.reason, diff)
			}

			q := read[*corev1.ResourceQuota](w, w.host, "vcluster-alice-default", wallName)
			if cpu, want := q.Spec.Hard[corev1.ResourceLimitsCPU], resource.MustParse("12"); (cpu.Cmp(want) == 0) != tc.wall {
				t.Errorf("%s: the wall is %s", tc.reason, cpu.String())
			}
		})
	}
}

// TestFailedAttempts holds that a failed action is Failed with its cause, is
// not repeated before its pause is over, and ends without a hand on it.
func TestFailedAttempts(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.helm.installErr = errInjected

	pass := func(at time.Duration, want ...string) {
		t.Helper()
		w.clock.SetTime(epoch.Add(at))

		_, err := w.pass(tn)
		if !errors.Is(err, errInjected) || tn.Status.Phase != v1alpha1.PhaseFailed || !strings.Contains(tn.Status.Message, errInjected.Error()) {
			t.Errorf("at %s: %v, %s: %s", at, err, tn.Status.Phase, tn.Status.Message)
		}

		var helms []string

		for _, a := range w.journal.take() {
			if strings.HasPrefix(a, "helm ") {
				helms = append(helms, a)
			}
		}

		if diff := cmp.Diff(want, helms); diff != "" {
			t.Errorf("at %s: -want, +got:\n%s", at, diff)
		}
	}

	pass(0, install)

	w.helm.upgradeErr = errInjected

	pass(time.Second)
	pass(2*time.Second, upgrade)
	pass(5*time.Second + 999*time.Millisecond)
	pass(6*time.Second, upgrade)
	pass(13 * time.Second)

	// A person asks for it, and is served at once.
	meta.SetReconcileRequest(tn, "1")
	pass(13500*time.Millisecond, upgrade)
	tn.SetLastHandledReconcileAt("1")
	pass(14 * time.Second)

	// So is a changed spec.
	tn.SetGeneration(2)
	pass(14*time.Second, upgrade)

	w.helm.upgradeErr = nil
	w.clock.SetTime(epoch.Add(17 * time.Second))
	w.mustPass(tn)

	if len(w.failures.by) > 0 || w.helm.release.Status != helm.StatusDeployed {
		t.Errorf("a success was not the end of it: %s", w.helm.release.Status)
	}
}

// TestSettledIsNoFailure holds that a failure that healed by itself is forgotten,
// so that the next change is not held back by it.
func TestSettledIsNoFailure(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)
	w.failures.add(tn, partHost, v1alpha1.TypeReleaseDeployed, errInjected, w.clock.Now())
	w.mustPass(tn)

	if len(w.failures.by) > 0 {
		t.Errorf("remembered: %v", w.failures.by)
	}
}

// TestFailureIsNoChange holds that a Tenant whose attempts keep failing alike
// has a status that does not change.
func TestFailureIsNoChange(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.helm.installErr, w.helm.upgradeErr = errInjected, errInjected

	var before *v1alpha1.TenantStatus

	for i := range 6 {
		w.clock.SetTime(epoch.Add(time.Duration(i) * time.Hour))

		if _, err := w.pass(tn); err == nil {
			t.Fatal("the attempt succeeded")
		}

		if i == 2 {
			before = tn.Status.DeepCopy()
		}
	}

	if diff := cmp.Diff(written(t, before), written(t, &tn.Status)); diff != "" {
		t.Errorf("-before, +after:\n%s", diff)
	}
}

// TestWriteFailures fails each write of a creation in turn: the cause is told,
// and the next attempt completes what is half-made.
func TestWriteFailures(t *testing.T) {
	t.Parallel()

	cases := map[string]v1alpha1.TenantPhase{
		"host create Namespace vcluster-alice-default": v1alpha1.PhaseFailed,
		"host create LimitRange kubeopera-tenant":      v1alpha1.PhaseFailed,
		"host create ResourceQuota kubeopera-tenant":   v1alpha1.PhaseFailed,
		"host create NetworkPolicy kubeopera-tenant":   v1alpha1.PhaseFailed,
	}
	for action, phase := range cases {
		t.Run(action, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().Obj()
			w.refuseWrites = func(a string) error {
				if a == action {
					return errInjected
				}

				return nil
			}

			if _, err := w.pass(tn); !errors.Is(err, errInjected) || tn.Status.Phase != phase || w.helm.release != nil {
				t.Errorf("%v, %s: %s, release %v", err, tn.Status.Phase, tn.Status.Message, w.helm.release)
			}

			if c := tn.GetCondition(v1alpha1.TypeBoundaryReady); c.Reason != v1alpha1.ReasonFailed {
				t.Errorf("the boundary is %s: %s", c.Reason, c.Message)
			}

			w.refuseWrites = func(string) error { return nil }
			w.clock.SetTime(epoch.Add(time.Minute))
			w.arrive(tn)
		})
	}
}

// TestPreparedOnce holds that what a look has checked is what is installed, whatever
// becomes of the registry meanwhile.
func TestPreparedOnce(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	e := w.external(tn)

	if _, err := e.Observe(t.Context(), tn); err != nil {
		t.Fatal(err)
	}

	e.chart = func(context.Context, string) (*helm.Chart, error) { return nil, helm.ErrRegistryUnreachable }

	if _, err := e.Create(t.Context(), tn); err != nil || w.helm.release == nil {
		t.Errorf("%v, release %v", err, w.helm.release)
	}
}

// TestRaces holds that what changed between the look and the act is no failure:
// nothing is written over it, nothing is told, and the next pass looks again.
func TestRaces(t *testing.T) {
	t.Parallel()

	for _, race := range []error{helm.ErrReleaseChanged, helm.ErrReleaseLocked} {
		w, tn := newWorld(t), alice().Obj()
		w.arrive(tn)
		w.helm.release.Status, w.helm.unlockErr = helm.StatusPendingUpgrade, race
		w.clock.SetTime(epoch.Add(time.Hour))
		w.mustPass(tn)

		if w.events.has(reasonUnlocked, reasonRepaired, reasonFailed) || len(w.failures.by) > 0 || tn.Status.Phase == v1alpha1.PhaseFailed {
			t.Errorf("%v: events %v, %s: %s", race, w.events.events, tn.Status.Phase, tn.Status.Message)
		}

		if diff := cmp.Diff([]string{unlock}, w.journal.take()); diff != "" {
			t.Errorf("%v: -want, +got:\n%s", race, diff)
		}
	}

	w, b := newWorld(t), alice()
	w.arrive(b.Obj())
	*b.Spec.Quota.CPU = resource.MustParse("9")
	w.refuseWrites = func(a string) error {
		if a == resize {
			return kerrors.NewConflict(schema.GroupResource{Resource: "resourcequotas"}, wallName, errInjected)
		}

		return nil
	}
	w.mustPass(b.Obj())

	if len(w.failures.by) > 0 || b.Status.Phase != v1alpha1.PhaseReady {
		t.Errorf("a conflict is a failure: %s: %s", b.Status.Phase, b.Status.Message)
	}
}

// TestUnlockFails holds that nothing is written over a lock that stays.
func TestUnlockFails(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)
	w.helm.release.Status, w.helm.unlockErr = helm.StatusPendingUpgrade, errInjected
	w.clock.SetTime(epoch.Add(time.Hour))

	_, err := w.pass(tn)
	if !errors.Is(err, errInjected) || !strings.Contains(err.Error(), "cannot unlock") || w.events.has(reasonUnlocked, reasonRepaired) {
		t.Errorf("%v, events %v", err, w.events.events)
	}

	if diff := cmp.Diff([]string{unlock}, w.journal.take()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestHelmNeedsTheNamespace holds that Helm writes only into a namespace that is
// the Tenant's at that moment, whatever was seen before.
func TestHelmNeedsTheNamespace(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		happen func(*world)
		is     error
		says   string
	}{
		"Gone":    {"it was deleted", func(*world) {}, nil, "someone deleted it"},
		"Foreign": {"somebody made another", func(w *world) { w.add(bareNamespace("vcluster-alice-default").Obj()) }, errConflict, "is not this Tenant's"},
		"Unknown": {"it cannot be read", func(w *world) { w.reads.fail(1) }, errInjected, errInjected.Error()},
		"Going": {"it is being deleted", func(w *world) {
			ns := namespaceOf(alice().Obj()).Obj()
			ns.SetFinalizers([]string{"example.org/held"})
			w.add(ns)
			w.remove(w.host, read[*corev1.Namespace](w, w.host, "", ns.GetName()))
		}, nil, "someone deleted it"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().Obj()
			w.arrive(tn)
			w.helm.release.Status = helm.StatusFailed

			e := w.external(tn)
			if _, err := e.Observe(t.Context(), tn); err != nil {
				t.Fatal(err)
			}

			w.remove(w.host, read[*corev1.Namespace](w, w.host, "", "vcluster-alice-default"))
			tc.happen(w)
			w.journal.clear()

			_, err := e.Update(t.Context(), tn)
			if err == nil || (tc.is != nil && !errors.Is(err, tc.is)) || !strings.Contains(err.Error(), tc.says) || len(w.journal.take()) > 0 {
				t.Errorf("%s: got %v", tc.reason, err)
			}
		})
	}
}

// TestUnknownAfterActing holds that a look that fails after the action is an
// error, and keeps no half truth.
func TestUnknownAfterActing(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)
	w.helm.release.Status = helm.StatusFailed

	e := w.external(tn)
	if _, err := e.Observe(t.Context(), tn); err != nil {
		t.Fatal(err)
	}

	w.reads.fail(2) // The first is the look at the namespace before Helm writes.

	before := tn.GetCondition(v1alpha1.TypeReleaseDeployed)

	_, err := e.Update(t.Context(), tn)
	if after := tn.GetCondition(v1alpha1.TypeReleaseDeployed); !errors.Is(err, errInjected) || !before.Equal(after) {
		t.Errorf("%v, %+v", err, after)
	}

	if !strings.Contains(tn.Status.Message, errInjected.Error()) {
		t.Errorf("message %q does not say what cannot be looked at", tn.Status.Message)
	}
}
