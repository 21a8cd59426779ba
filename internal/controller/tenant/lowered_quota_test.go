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
		{"nothing goes", "7", "7", "7 of limits.cpu are in use and 5 are to be allowed"},
		{"the control plane is being made anew: its 3 are kept free", "4", "7", ""},
		{"some of the workloads go", "6", "6", "6 of limits.cpu are in use and 5 are to be allowed"},
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

		change(w, w.host, aliceHostNamespace, wallName, func(q *corev1.ResourceQuota) {
			q.Status.Used = corev1.ResourceList{corev1.ResourceLimitsCPU: resource.MustParse(s.used)}
		})
		w.mustPass(b.Obj())

		q := read[*corev1.ResourceQuota](w, w.host, aliceHostNamespace, wallName)
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

const aliceHostNamespace = "vcluster-alice-default"
