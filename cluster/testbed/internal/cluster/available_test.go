// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"
)

func testDeployment(change func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "crossplane", Namespace: crossplaneNamespace, Generation: 2},
		Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "crossplane"}}},
		Status:     appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1},
	}
	change(d)
	return d
}

func TestDeploymentAvailable(t *testing.T) {
	t.Parallel()
	pod := func(app string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: app + "-x", Namespace: crossplaneNamespace, Labels: map[string]string{"app": app}},
			Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{
				Name: "init", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such image"}},
			}}},
		}
	}
	cases := map[string]struct {
		reason  string
		objects []runtime.Object
		says    []string
		ok      bool
	}{
		"Available": {reason: "one replica is the default", objects: []runtime.Object{testDeployment(func(*appsv1.Deployment) {})}, ok: true},
		"Absent":    {reason: "the chart is not written yet", says: []string{"not found"}},
		"TooFew": {
			reason: "all replicas count, and what they wait for is told",
			objects: []runtime.Object{
				testDeployment(func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To(int32(2)) }), pod("crossplane"), pod("other"),
			},
			says: []string{"1 of 2", "container init of pod crossplane-x waits: ErrImagePull no such image"},
		},
		"OldState": {reason: "what the controller has not seen proves nothing", objects: []runtime.Object{testDeployment(func(d *appsv1.Deployment) { d.Generation = 3 })}, says: []string{"1 of 1"}},
		"OldPod":   {reason: "the pod of the last version is not that of this one", objects: []runtime.Object{testDeployment(func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 0 })}, says: []string{"1 of 1"}},
		"Surge":    {reason: "the old pod is still there", objects: []runtime.Object{testDeployment(func(d *appsv1.Deployment) { d.Status.Replicas = 2 })}, says: []string{"1 of 1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := deploymentAvailable(t.Context(), fake.NewClientset(tc.objects...), "crossplane")
			if (err == nil) != tc.ok {
				t.Fatalf("%s: deploymentAvailable(...) = %v", tc.reason, err)
			}
			for _, s := range tc.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%s: %q does not say %q", tc.reason, err, s)
				}
			}
			if err != nil && strings.Contains(err.Error(), "other-x") {
				t.Errorf("%s: %q tells of another pod", tc.reason, err)
			}
		})
	}
}

func TestAwaitDeployment(t *testing.T) {
	t.Parallel()
	there := fake.NewClientset(testDeployment(func(*appsv1.Deployment) {}))
	if err := awaitDeployment(t.Context(), there, "crossplane"); err != nil {
		t.Errorf("awaitDeployment(...) = %v", err)
	}

	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	err := awaitDeployment(late, fake.NewClientset(), "crossplane")
	for _, s := range []string{"crossplane was not available", "not found", "describe pods", "'down' and 'up'"} {
		if err == nil || !strings.Contains(err.Error(), s) {
			t.Errorf("awaitDeployment(...) = %v, which does not say %q", err, s)
		}
	}

	why := errors.New("told to stop")
	stopped, stop := context.WithCancelCause(t.Context())
	stop(why)
	if err := awaitDeployment(stopped, fake.NewClientset(), "crossplane"); !errors.Is(err, why) {
		t.Errorf("awaitDeployment(...) = %v, want %v", err, why)
	}
}
