// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/isolation"
)

// TestRepairsPause holds that the same repair waits longer each time, up to a minute, that
// another one and one of another spec are made at once, and that it is the first again
// when it was not needed for long.
func TestRepairsPause(t *testing.T) {
	t.Parallel()

	f, tn, now := newFailures(), alice().Obj(), epoch

	for _, want := range []time.Duration{15 * time.Second, 30 * time.Second, time.Minute, time.Minute} {
		f.repaired(tn, partHost, "x", 15*time.Second, now)

		if got := f.untilRepair(tn, partHost, "x", now); got != want {
			t.Errorf("waits for %s, want %s", got, want)
		}

		if f.untilRepair(tn, partHost, "y", now) != 0 || f.untilRepair(tn, partFlux, "x", now) != 0 || f.untilRepair(bob().Obj(), partHost, "x", now) != 0 {
			t.Error("another repair waits as well")
		}

		now = now.Add(want)

		if got := f.untilRepair(tn, partHost, "x", now); got != 0 {
			t.Errorf("waits for another %s", got)
		}
	}

	changed := tn.DeepCopy()
	changed.SetGeneration(2)

	f.repaired(tn, partHost, "x", 15*time.Second, now)

	if got := f.untilRepair(changed, partHost, "x", now); got != 0 {
		t.Errorf("a changed spec waits for %s", got)
	}

	now = now.Add(maxRetry + forgetRepairAfter)
	f.repaired(tn, partHost, "x", 15*time.Second, now)

	if got := f.untilRepair(tn, partHost, "x", now); got != 15*time.Second {
		t.Errorf("after a long time it waits for %s", got)
	}

	f.repaired(bob().Obj(), partHost, "x", time.Second, now)
	f.forgetTenant(tn)

	if len(f.repairs) != 1 {
		t.Errorf("remembered: %v", f.repairs)
	}
}

// TestSleeper holds that what scales a vCluster to 0 whenever it was repaired, such as a
// sleep mode, costs a revision a minute and not four, and that a person's request
// is followed at once.
func TestSleeper(t *testing.T) {
	t.Parallel()

	w, b := wholeWorld(t, kindStatefulSet)
	n := namesOf(b.Obj())

	var at []time.Duration

	start := w.clock.Now()

	for since := time.Duration(0); since <= 4*time.Minute; since += 5 * time.Second {
		w.clock.SetTime(start.Add(since))
		w.scale(n, n.release, 0)
		w.mustPass(b.Obj())

		for range w.doneOnHost() {
			at = append(at, since)
		}
	}

	want := []time.Duration{0, 15 * time.Second, 45 * time.Second, 105 * time.Second, 165 * time.Second, 225 * time.Second}
	if diff := cmp.Diff(want, at); diff != "" || w.events.count(reasonRepaired) != len(want) {
		t.Errorf("%d events; repaired at: -want, +got:\n%s", w.events.count(reasonRepaired), diff)
	}

	w.clock.SetTime(w.clock.Now().Add(settleTime))
	w.scale(n, n.release, 0)
	b.SetAnnotations(map[string]string{"crossplane.io/reconcile-requested-at": "now"})
	w.mustPass(b.Obj())

	if diff := cmp.Diff([]string{upgrade}, w.doneOnHost()); diff != "" {
		t.Errorf("asked for: -want, +got:\n%s", diff)
	}
}

// TestIsolationFight holds that who undoes the isolation of a Tenant again and again, in
// whatever part of it, does not have the provider write at the speed of its watches,
// and that the Tenant stays Ready.
func TestIsolationFight(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		undo func(*world)
		mend string
	}{
		"Policy": {func(w *world) {
			change(w, w.host, aliceNamespace, isolation.TenantPolicy, func(p *networkingv1.NetworkPolicy) { p.Spec.Egress = nil })
		}, mendAll},
		"Labels": {func(w *world) {
			change(w, w.host, "", aliceNamespace, func(n *corev1.Namespace) { n.Labels[enforce] = "privileged" })
		}, mendNamespace},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().Obj()
			w.arrive(tn)

			start, mended := w.clock.Now(), 0

			for since := time.Duration(0); since <= 2*time.Minute; since += time.Second {
				w.clock.SetTime(start.Add(since))
				tc.undo(w)
				w.mustPass(tn)

				for _, done := range w.did() {
					if done != tc.mend {
						t.Errorf("did %s", done)
					}

					mended++
				}

				if tn.Status.Phase != v1alpha1.PhaseReady {
					t.Fatalf("after %s: %s: %s", since, tn.Status.Phase, tn.Status.Message)
				}
			}

			// At 0, 2, 6, 14, 30, 62 and 122 seconds.
			if mended != 6 {
				t.Errorf("mended %d times in 2 minutes, want 6", mended)
			}

			w.isolated(&v1alpha1.Isolation{PodSecurity: v1alpha1.PodSecurityRestricted, Egress: []networkingv1.NetworkPolicyEgressRule{}})
			w.mustPass(tn)

			if got := w.did(); len(got) != 2 {
				t.Errorf("a changed configuration waits as well: did %v", got)
			}
		})
	}
}
