// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Lowered is the wall on its way from one that is there to one that is wanted. What is
// in use stays within it: a wall below that would refuse a pod of the platform that is
// made anew, since the tenant's pods do not go because of a quota. It comes down as
// they go, and never rises above the one that is there but to what is in use, which
// lets nothing in. What is in use of a limit that is new is not counted before the host
// knows the limit, so that it has effect at once, and follows then. Reserve is what the
// platform may lack now and will need. Over names what more is in use of than is
// wanted, sorted.
func Lowered(want corev1.ResourceQuotaSpec, have *corev1.ResourceQuota, reserve Allowance) (wall corev1.ResourceQuotaSpec, over []corev1.ResourceName) {
	wall = *want.DeepCopy()
	missing := reserve.hard()

	for name, hard := range want.Hard {
		stood, known := have.Spec.Hard[name]
		if !known {
			continue
		}

		used := have.Status.Used[name]
		if used.Cmp(hard) > 0 {
			over = append(over, name)
		}

		floor := smaller(sum(used, missing[name]), larger(stood, used))
		wall.Hard[name] = larger(floor, hard)
	}

	slices.Sort(over)

	return wall, over
}

func larger(a, b resource.Quantity) resource.Quantity {
	if a.Cmp(b) > 0 {
		return a
	}

	return b
}

func smaller(a, b resource.Quantity) resource.Quantity {
	if a.Cmp(b) < 0 {
		return a
	}

	return b
}

// hard is the allowance in the names of a wall.
func (a Allowance) hard() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceLimitsCPU: a.Limits[corev1.ResourceCPU], corev1.ResourceRequestsCPU: a.Requests[corev1.ResourceCPU],
		corev1.ResourceLimitsMemory: a.Limits[corev1.ResourceMemory], corev1.ResourceRequestsMemory: a.Requests[corev1.ResourceMemory],
		corev1.ResourceRequestsStorage: a.Storage, corev1.ResourcePods: *resource.NewQuantity(a.Pods, resource.DecimalSI),
	}
}
