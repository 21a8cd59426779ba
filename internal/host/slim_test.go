// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestSlim holds what is kept of each object: all that a Tenant is judged by.
func TestSlim(t *testing.T) {
	t.Parallel()

	managed := metav1.ObjectMeta{Name: "o", ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "x"}}}
	bare := metav1.ObjectMeta{Name: "o"}
	annotated := metav1.ObjectMeta{Annotations: map[string]string{"renewed": "once"}}
	pods := corev1.PodTemplateSpec{ObjectMeta: annotated, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}
	claims := []corev1.PersistentVolumeClaim{{ObjectMeta: bare}}
	service := corev1.ServiceSpec{ClusterIP: "10.0.0.1"}

	cases := map[string]struct {
		reason     string
		have, want client.Object
	}{
		"StatefulSet": {
			"its pods and volumes are not looked at, but what it is told to run",
			&appsv1.StatefulSet{ObjectMeta: managed, Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](1), Template: pods, VolumeClaimTemplates: claims}, Status: appsv1.StatefulSetStatus{ReadyReplicas: 1}},
			&appsv1.StatefulSet{
				ObjectMeta: bare, Status: appsv1.StatefulSetStatus{ReadyReplicas: 1},
				Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](1), Template: corev1.PodTemplateSpec{ObjectMeta: annotated}},
			},
		},
		"Deployment": {
			"nor those of a control plane without a volume",
			&appsv1.Deployment{ObjectMeta: managed, Spec: appsv1.DeploymentSpec{Template: pods}, Status: appsv1.DeploymentStatus{ReadyReplicas: 1}},
			&appsv1.Deployment{
				ObjectMeta: bare, Status: appsv1.DeploymentStatus{ReadyReplicas: 1},
				Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{ObjectMeta: annotated}},
			},
		},
		"Service": {"of all else nothing is missing", &corev1.Service{ObjectMeta: managed, Spec: service}, &corev1.Service{ObjectMeta: bare, Spec: service}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := slim(tc.have)
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(any(tc.want), got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
