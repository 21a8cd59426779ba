// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Lowered is the wall on its way from one that is there to one that is wanted. What is
// in use stays within it: a wall below that would refuse a pod of the platform that is
// made anew, since the tenant's pods do not go because of a quota. It comes down as
// they go, and never rises above the one that is there. Reserve is what the platform
// may lack now and will need. Over says what is in use beyond the wanted wall, sorted.
func Lowered(want corev1.ResourceQuotaSpec, have *corev1.ResourceQuota, reserve Allowance) (wall corev1.ResourceQuotaSpec, over []string) {
	wall = *want.DeepCopy()
	missing := reserve.hard()

	for name, hard := range want.Hard {
		used, stood := have.Status.Used[name], have.Spec.Hard[name]
		if used.Cmp(hard) > 0 {
			over = append(over, fmt.Sprintf("%s of %s are in use and %s are to be allowed", used.String(), name, hard.String()))
		}

		floor := sum(used, missing[name])
		if floor.Cmp(stood) > 0 {
			floor = stood
		}

		if floor.Cmp(hard) > 0 {
			wall.Hard[name] = floor
		}
	}

	slices.Sort(over)

	return wall, over
}

// hard is the allowance in the names of a wall.
func (a Allowance) hard() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceLimitsCPU: a.Limits[corev1.ResourceCPU], corev1.ResourceRequestsCPU: a.Requests[corev1.ResourceCPU],
		corev1.ResourceLimitsMemory: a.Limits[corev1.ResourceMemory], corev1.ResourceRequestsMemory: a.Requests[corev1.ResourceMemory],
		corev1.ResourceRequestsStorage: a.Storage, corev1.ResourcePods: *resource.NewQuantity(a.Pods, resource.DecimalSI),
	}
}
