// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// TestQuotaLoweredBelowUse holds that a quota of 2 CPU for workloads that use 4 is told,
// leaves the platform's pods the room to be made anew, and follows as the workloads go.
func TestQuotaLoweredBelowUse(t *testing.T) {
	t.Parallel()

	w, b := newWorld(t), alice()
	w.arrive(b.Obj())

	steps := []struct {
		reason, used, wall, says string
	}{
		// 4 of the workloads, 3 of the platform.
		{"nothing goes", "7", "7", "which is 5 of limits.cpu; it"},
		{"the control plane is being made anew: its 3 are kept free", "4", "7", ""},
		{"some of the workloads go", "6", "6", "which is 5 of limits.cpu; it"},
		{"they fit", "5", "5", ""},
		{"the wall stays down", "3", "5", ""},
	}

	*b.Spec.Quota.CPU = resource.MustParse("2")

	for i, s := range steps {
		down := i == 1
		if down {
			w.remove(w.host, controlPlane(namesOf(b.Obj())).Obj())
			w.add(controlPlane(namesOf(b.Obj())).Obj())
		}

		w.use(s.used)
		w.mustPass(b.Obj())

		q := read[*corev1.ResourceQuota](w, w.host, aliceNamespace, wallName)
		if diff := cmp.Diff(s.wall, inWords(q.Spec.Hard)["limits.cpu"]); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", s.reason, diff)
		}

		c := b.GetCondition(v1alpha1.TypeBoundaryReady)
		if c.Status != corev1.ConditionTrue || (c.Reason == v1alpha1.ReasonPendingChange) != (s.says != "") || !strings.Contains(c.Message, s.says) {
			t.Errorf("%s: %s: %s", s.reason, c.Reason, c.Message)
		}

		if !down && b.Status.Phase != v1alpha1.PhaseReady {
			t.Errorf("%s: %s: %s", s.reason, b.Status.Phase, b.Status.Message)
		}

		if cpu := b.Status.Quota.Workloads[corev1.ResourceLimitsCPU]; cpu.String() != "2" {
			t.Errorf("%s: the share of the workloads is %s", s.reason, cpu.String())
		}

		if down {
			w.remove(w.host, controlPlane(namesOf(b.Obj())).Obj())
			w.add(controlPlane(namesOf(b.Obj())).Ready().Obj())
		}
	}
}

// use has the host count so much in use of what alice's wall limits.
func (w *world) use(limitsCPU string) {
	w.t.Helper()

	change(w, w.host, aliceNamespace, wallName, func(q *corev1.ResourceQuota) {
		q.Status.Used = corev1.ResourceList{corev1.ResourceLimitsCPU: resource.MustParse(limitsCPU)}
	})
}

// TestQuotaLoweredIsToldOnce holds that what is in use changes no condition as long as it
// is too much.
func TestQuotaLoweredIsToldOnce(t *testing.T) {
	t.Parallel()

	w, b := newWorld(t), alice()
	w.arrive(b.Obj())

	*b.Spec.Quota.CPU = resource.MustParse("2")

	var said string

	for _, used := range []string{"7", "6900m", "6", "5100m"} {
		w.use(used)
		w.mustPass(b.Obj())

		c := b.GetCondition(v1alpha1.TypeBoundaryReady)
		if c.Reason != v1alpha1.ReasonPendingChange || (said != "" && c.Message != said) {
			t.Errorf("with %s in use: %s: %s, before: %s", used, c.Reason, c.Message, said)
		}

		said = c.Message
	}
}

// TestQuotaLoweredByAnOlderProvider holds that a wall below what is in use rises to that,
// lets nothing in, and is as wanted once all fits.
func TestQuotaLoweredByAnOlderProvider(t *testing.T) {
	t.Parallel()

	w, b := newWorld(t), alice()
	w.arrive(b.Obj())

	*b.Spec.Quota.CPU = resource.MustParse("2")
	change(w, w.host, aliceNamespace, wallName, func(q *corev1.ResourceQuota) {
		q.Spec.Hard[corev1.ResourceLimitsCPU] = resource.MustParse("5")
	})

	for _, s := range []struct {
		used, wall string
		told       bool
	}{{"7", "7", true}, {"6", "6", true}, {"5", "5", false}, {"5", "5", false}} {
		w.use(s.used)
		w.mustPass(b.Obj())

		q := read[*corev1.ResourceQuota](w, w.host, aliceNamespace, wallName)
		if diff := cmp.Diff(s.wall, inWords(q.Spec.Hard)["limits.cpu"]); diff != "" {
			t.Errorf("with %s in use: -want, +got:\n%s", s.used, diff)
		}

		if c := b.GetCondition(v1alpha1.TypeBoundaryReady); (c.Reason == v1alpha1.ReasonPendingChange) != s.told {
			t.Errorf("with %s in use: %s: %s", s.used, c.Reason, c.Message)
		}
	}
}

// TestQuotaLoweredWhileRolling holds that the wall leaves room for a control plane that is
// made anew, also while it answers.
func TestQuotaLoweredWhileRolling(t *testing.T) {
	t.Parallel()

	w, b := newWorld(t), alice()
	w.arrive(b.Obj())

	*b.Spec.Quota.CPU = resource.MustParse("2")
	rolling := controlPlane(namesOf(b.Obj())).Ready()
	rolling.Status.Replicas = 2
	w.remove(w.host, controlPlane(namesOf(b.Obj())).Obj())
	w.add(rolling.Obj())
	w.use("4")
	w.mustPass(b.Obj())

	q := read[*corev1.ResourceQuota](w, w.host, aliceNamespace, wallName)
	if got := inWords(q.Spec.Hard)["limits.cpu"]; got != "7" {
		t.Errorf("4 are in use and 3 may be missing: the wall is %s, want 7", got)
	}
}

// TestQuotaLoweredWithoutCoreDNS holds that a tenant who keeps its CoreDNS at zero keeps no
// more room than that needs: a wall of 7 comes down to 5 as what is in use does.
func TestQuotaLoweredWithoutCoreDNS(t *testing.T) {
	t.Parallel()

	w, b := newWorld(t), alice()
	w.arrive(b.Obj())
	w.setDNS(false)

	*b.Spec.Quota.CPU = resource.MustParse("2")

	for _, s := range []struct{ used, wall string }{{"6", "7"}, {"5", "6"}, {"4500m", "5500m"}, {"4", "5"}, {"2", "5"}} {
		w.use(s.used)
		w.mustPass(b.Obj())

		q := read[*corev1.ResourceQuota](w, w.host, aliceNamespace, wallName)
		if diff := cmp.Diff(s.wall, inWords(q.Spec.Hard)["limits.cpu"]); diff != "" {
			t.Errorf("with %s in use: -want, +got:\n%s", s.used, diff)
		}
	}
}

// TestQuotaLoweredHidesNoIsolation holds that what could not be isolated is told first.
func TestQuotaLoweredHidesNoIsolation(t *testing.T) {
	t.Parallel()

	w, b := newWorld(t), alice()
	w.arrive(b.Obj())
	w.isolated(badRules())
	w.withoutPolicies()

	*b.Spec.Quota.CPU = resource.MustParse("2")
	w.use("7")

	if _, err := w.external(b.Obj()).Observe(t.Context(), b.Obj()); err != nil {
		t.Fatal(err)
	}

	c := b.GetCondition(v1alpha1.TypeBoundaryReady)
	first, second := strings.Index(c.Message, "isolation.egress[0]"), strings.Index(c.Message, errInUse.Error())

	if c.Reason != v1alpha1.ReasonPendingChange || first < 0 || second < first {
		t.Errorf("%s: %s", c.Reason, c.Message)
	}
}
