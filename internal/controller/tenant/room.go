// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/quota"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// quotaFields are the fields of a Tenant that bound what is hard in its wall.
var quotaFields = map[corev1.ResourceName]string{
	corev1.ResourceLimitsCPU: "cpu", corev1.ResourceRequestsCPU: "cpu",
	corev1.ResourceLimitsMemory: "memory", corev1.ResourceRequestsMemory: "memory",
	corev1.ResourcePods: "pods",
}

// checkRoom errs when the wall that is to stand around a namespace full of pods
// would not let its control plane come back once it is made anew.
func (e *external) checkRoom(ctx context.Context, f *facts) error {
	pods := &corev1.PodList{}
	if err := e.live.List(ctx, pods, client.InNamespace(e.names.namespace)); err != nil {
		return fmt.Errorf("cannot list its pods: %w", err)
	}

	need, err := quota.AllowanceFor(vcluster.Merge(f.desired.values, withoutOthers()))
	if err != nil {
		return fmt.Errorf("cannot use vcluster.valuesOverrides: %w", err)
	}

	// What the control plane alone adds to a quota of nothing.
	nothing := v1alpha1.QuotaSpec{CPU: &resource.Quantity{}, Memory: &resource.Quantity{}, Pods: ptr.To[int32](0)}
	control := quota.Wall(nothing, need).Hard
	others := usedBy(pods.Items, vcluster.ControlPlaneLabels(e.names.release))

	for _, name := range []corev1.ResourceName{
		corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourcePods,
	} {
		hard, bounded := f.wall.Hard[name]

		over := others[name].DeepCopy()
		over.Add(control[name])
		over.Sub(hard)

		if bounded && over.Sign() > 0 {
			used := others[name]

			return fmt.Errorf("its pods use %s of %s, which is %s more than the quota leaves them beside the control plane, "+
				"so that it could not start again: raise quota.%s", used.String(), name, over.String(), quotaFields[name])
		}
	}

	return nil
}

// withoutOthers are values without the CoreDNS and the etcd of a vCluster, whose pods
// are counted as they are.
func withoutOthers() map[string]any {
	off := map[string]any{"enabled": false}

	return map[string]any{"controlPlane": map[string]any{
		"coredns": off, "backingStore": map[string]any{"etcd": map[string]any{"deploy": off}},
	}}
}

// usedBy is what a ResourceQuota would count for the pods, but for those that carry
// the labels.
func usedBy(pods []corev1.Pod, but map[string]string) corev1.ResourceList {
	out := corev1.ResourceList{}

	add := func(name corev1.ResourceName, q resource.Quantity) {
		total := out[name]
		total.Add(q)
		out[name] = total
	}

	for i := range pods {
		p := &pods[i]
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed || contains(p.GetLabels(), but) {
			continue
		}

		add(corev1.ResourcePods, *resource.NewQuantity(1, resource.DecimalSI))

		for _, c := range p.Spec.Containers {
			add(corev1.ResourceLimitsCPU, c.Resources.Limits[corev1.ResourceCPU])
			add(corev1.ResourceLimitsMemory, c.Resources.Limits[corev1.ResourceMemory])
			add(corev1.ResourceRequestsCPU, c.Resources.Requests[corev1.ResourceCPU])
			add(corev1.ResourceRequestsMemory, c.Resources.Requests[corev1.ResourceMemory])
		}
	}

	return out
}
