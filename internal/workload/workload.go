// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package workload says whether a workload is available, and why it is not, for
// which it reads pods and events with a client. What it says stays the same as
// long as the reason does: it is sorted, and without what differs from attempt to
// attempt.
package workload

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// DeploymentAvailable says whether the newest revision of the Deployment runs in
// all the replicas that it wants. One that wants none is available.
func DeploymentAvailable(d *appsv1.Deployment) bool {
	if d.Status.ObservedGeneration < d.GetGeneration() {
		return false
	}

	want := ptr.Deref(d.Spec.Replicas, 1)
	if want == 0 {
		return true
	}

	c := condition(d, appsv1.DeploymentAvailable)

	return c != nil && c.Status == corev1.ConditionTrue &&
		d.Status.UpdatedReplicas >= want &&
		d.Status.AvailableReplicas >= want &&
		d.Status.Replicas <= d.Status.UpdatedReplicas
}

func condition(d *appsv1.Deployment, t appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	for i := range d.Status.Conditions {
		if d.Status.Conditions[i].Type == t {
			return &d.Status.Conditions[i]
		}
	}

	return nil
}
