// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// available is a Deployment of 2 replicas that all run.
func available() *appsv1.Deployment {
	d := &appsv1.Deployment{
		Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](2)},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 3, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2, AvailableReplicas: 2,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue},
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
			},
		},
	}
	d.SetGeneration(3)

	return d
}

func TestDeploymentAvailable(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(*appsv1.Deployment)
		want   bool
	}{
		"Available":    {"all replicas run", func(*appsv1.Deployment) {}, true},
		"New":          {"its controller has not seen it", func(d *appsv1.Deployment) { d.Status = appsv1.DeploymentStatus{} }, false},
		"NotObserved":  {"its controller has not seen the change", func(d *appsv1.Deployment) { d.SetGeneration(4) }, false},
		"NoCondition":  {"its controller does not say so", func(d *appsv1.Deployment) { d.Status.Conditions = nil }, false},
		"Unavailable":  {"its controller says otherwise", func(d *appsv1.Deployment) { d.Status.Conditions[1].Status = corev1.ConditionFalse }, false},
		"NotUpdated":   {"one pod is of an older revision", func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 1 }, false},
		"NotAvailable": {"one pod is not available, which the condition allows", func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 1 }, false},
		"OldPod":       {"an older pod is still there", func(d *appsv1.Deployment) { d.Status.Replicas = 3 }, false},
		"Default":      {"one replica is wanted when nothing is said", func(d *appsv1.Deployment) { d.Spec.Replicas = nil }, true},
		"None":         {"none is wanted", func(d *appsv1.Deployment) { d.Spec.Replicas, d.Status.Conditions = ptr.To[int32](0), nil }, true},
		"NoneUnseen":   {"none is wanted, which its controller has not seen", func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](0); d.SetGeneration(4) }, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := available()
			tc.change(d)

			if got := DeploymentAvailable(d); got != tc.want {
				t.Errorf("%s: %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}
