// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestMatters holds which changes wake a Tenant: all that it reads, and not what
// its workloads do all day.
func TestMatters(t *testing.T) {
	t.Parallel()

	hard := func(s string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceLimitsCPU: resource.MustParse(s)}
	}
	overused := func() *corev1.ResourceQuota {
		return &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: hard("6")}, Status: corev1.ResourceQuotaStatus{Used: hard("6")}}
	}
	now := metav1.Now()

	cases := map[string]struct {
		reason string
		obj    client.Object
		change func(client.Object)
		want   bool
	}{
		"Heartbeat":       {"nothing but the version", &corev1.ResourceQuota{}, func(client.Object) {}, false},
		"QuotaUse":        {"pods come and go", &corev1.ResourceQuota{}, func(o client.Object) { o.(*corev1.ResourceQuota).Status.Used = hard("1") }, false},
		"QuotaFalls":      {"also while a wall comes down", overused(), func(o client.Object) { o.(*corev1.ResourceQuota).Status.Used = hard("5") }, false},
		"QuotaSpec":       {"somebody lowers the wall", &corev1.ResourceQuota{}, func(o client.Object) { o.(*corev1.ResourceQuota).Spec.Hard = hard("1") }, true},
		"Label":           {"somebody takes the stamp off", &corev1.ResourceQuota{}, func(o client.Object) { o.SetLabels(map[string]string{"a": "b"}) }, true},
		"Annotation":      {"or the Tenant's name", &corev1.ResourceQuota{}, func(o client.Object) { o.SetAnnotations(map[string]string{"a": "b"}) }, true},
		"Deleted":         {"somebody deletes it", &corev1.ResourceQuota{}, func(o client.Object) { o.SetDeletionTimestamp(&now) }, true},
		"H9: SetScaled":   {"somebody scales it", &appsv1.StatefulSet{}, func(o client.Object) { o.SetGeneration(2) }, true},
		"SetReady":        {"the control plane becomes ready", &appsv1.StatefulSet{}, func(o client.Object) { o.(*appsv1.StatefulSet).Status.ReadyReplicas = 1 }, true},
		"SetIdle":         {"only its metadata is managed anew", &appsv1.StatefulSet{}, func(o client.Object) { o.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "x"}}) }, false},
		"DeploymentReady": {"a control plane without a volume becomes ready", &appsv1.Deployment{}, func(o client.Object) { o.(*appsv1.Deployment).Status.ReadyReplicas = 1 }, true},
		"DeploymentScale": {"or is scaled", &appsv1.Deployment{}, func(o client.Object) { o.SetGeneration(2) }, true},
		"DeploymentIdle":  {"or nothing of it changes", &appsv1.Deployment{}, func(client.Object) {}, false},
		"NamespaceStatus": {"what blocks a deletion", &corev1.Namespace{}, func(o client.Object) { o.(*corev1.Namespace).Status.Phase = corev1.NamespaceTerminating }, true},
		"Limits":          {"the limits", &corev1.LimitRange{}, func(o client.Object) { o.(*corev1.LimitRange).Spec.Limits = make([]corev1.LimitRangeItem, 1) }, true},
		"Service":         {"the address", &corev1.Service{}, func(o client.Object) { o.(*corev1.Service).Spec.ClusterIP = "10.0.0.1" }, true},
		"Export":          {"the export, of which only the metadata is seen", exportedSecret(), func(client.Object) {}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := tc.obj
			b.SetResourceVersion("1")

			a := b.DeepCopyObject().(client.Object)
			tc.change(a)

			if matters(b, a) {
				t.Errorf("%s: a resync wakes the Tenant", tc.reason)
			}

			a.SetResourceVersion("2")

			if got := matters(b, a); got != tc.want {
				t.Errorf("%s: matters is %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}
