// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package quota computes the wall around a CloudSpace: the ResourceQuota of its
// host namespace and the LimitRange that goes with it. It has no client.
package quota

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// What a container gets that asks for nothing. A ResourceQuota on CPU and memory
// refuses such a container, so the quota never comes without these.
var (
	defaultLimits = corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("500m"),
		corev1.ResourceMemory: resource.MustParse("512Mi"),
	}
	defaultRequests = corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("50m"),
		corev1.ResourceMemory: resource.MustParse("64Mi"),
	}
)

// LimitRange gives requests and limits to containers that have none.
func LimitRange() corev1.LimitRangeSpec {
	return corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
		Type:           corev1.LimitTypeContainer,
		Default:        defaultLimits.DeepCopy(),
		DefaultRequest: defaultRequests.DeepCopy(),
	}}}
}

// Wall is what the host namespace may use in all: the quota of the tenant's
// workloads plus the allowance for what the platform runs beside them. CPU and
// memory bound both requests and limits; storage and pods are bounded only
// where the quota names them.
func Wall(q v1alpha1.QuotaSpec, a Allowance) corev1.ResourceQuotaSpec {
	hard := corev1.ResourceList{}
	if q.CPU != nil {
		hard[corev1.ResourceLimitsCPU] = rounded(resource.Milli, *q.CPU, a.Limits[corev1.ResourceCPU])
		hard[corev1.ResourceRequestsCPU] = rounded(resource.Milli, *q.CPU, a.Requests[corev1.ResourceCPU])
	}

	if q.Memory != nil {
		hard[corev1.ResourceLimitsMemory] = rounded(wholeBytes, *q.Memory, a.Limits[corev1.ResourceMemory])
		hard[corev1.ResourceRequestsMemory] = rounded(wholeBytes, *q.Memory, a.Requests[corev1.ResourceMemory])
	}

	if q.Storage != nil {
		hard[corev1.ResourceRequestsStorage] = rounded(wholeBytes, *q.Storage, a.Storage)
	}

	if q.Pods != nil {
		hard[corev1.ResourcePods] = *resource.NewQuantity(int64(*q.Pods)+a.Pods, resource.DecimalSI)
	}

	return corev1.ResourceQuotaSpec{Hard: hard}
}

// TenantHard is what the quota inside the vCluster says: the tenant's own share of
// the wall, without an allowance.
func TenantHard(q v1alpha1.QuotaSpec) corev1.ResourceList {
	return Wall(q, Allowance{}).Hard
}

// Shares takes a wall apart: Workloads is TenantHard, and Platform is exactly what
// remains of what is hard, at least nothing. Used is left to the caller.
func Shares(q v1alpha1.QuotaSpec, hard corev1.ResourceList) v1alpha1.QuotaStatus {
	out := v1alpha1.QuotaStatus{Workloads: TenantHard(q), Platform: corev1.ResourceList{}, Hard: hard}

	for name, all := range hard {
		rest := all.DeepCopy()
		rest.Sub(out.Workloads[name])

		if rest.Sign() < 0 {
			rest = resource.Quantity{Format: all.Format}
		}

		out.Platform[name] = rest
	}

	return out
}

// wholeBytes is the scale of memory and storage.
const wholeBytes resource.Scale = 0

// rounded is the sum, rounded up as the API server stores it: what is finer would
// differ for ever from what was stored.
func rounded(to resource.Scale, a, b resource.Quantity) resource.Quantity {
	out := sum(a, b)
	out.RoundUp(to)

	return out
}

func sum(a, b resource.Quantity) resource.Quantity {
	out := a.DeepCopy()
	out.Add(b)

	return out
}
