// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

func TestReadWorkload(t *testing.T) {
	t.Parallel()

	n := namesOf(alice().Obj())
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: n.namespace, Name: name, Labels: vcluster.ControlPlaneLabels(n.release)}
	}

	deployment := &appsv1.Deployment{ObjectMeta: meta(n.release), Status: appsv1.DeploymentStatus{ReadyReplicas: 2}}
	etcd := &appsv1.StatefulSet{ObjectMeta: meta(n.release + "-etcd"), Status: appsv1.StatefulSetStatus{ReadyReplicas: 1}}
	elsewhere := controlPlane(n).Ready().Obj()
	elsewhere.SetNamespace("other")

	unobserved := controlPlane(n).Ready().Obj()
	unobserved.SetGeneration(2)
	unobserved.Status.ObservedGeneration = 1

	half := deployment.DeepCopy()
	half.Status.Replicas, half.Status.UpdatedReplicas = 2, 1

	pod := &corev1.Pod{ObjectMeta: meta(n.release + "-0"), Status: corev1.PodStatus{Conditions: []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/1 nodes are available"},
	}}}

	warn := func(name, of, message string, at time.Duration) *corev1.Event {
		return &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: n.namespace, Name: name},
			InvolvedObject: corev1.ObjectReference{Kind: "StatefulSet", Name: of},
			Type:           corev1.EventTypeWarning, Message: message, LastTimestamp: metav1.NewTime(epoch.Add(at)),
		}
	}

	normal := warn("normal", n.release, "created", time.Hour)
	normal.Type = corev1.EventTypeNormal

	cases := map[string]struct {
		reason string
		host   []client.Object
		want   controlPlaneFacts
	}{
		"None":              {"there is none", nil, controlPlaneFacts{}},
		"StatefulSet":       {"with persistence", []client.Object{controlPlane(n).Ready().Obj()}, controlPlaneFacts{found: true, kind: "StatefulSet", name: n.release, ready: true}},
		"Deployment":        {"without persistence", []client.Object{deployment}, controlPlaneFacts{found: true, kind: "Deployment", name: n.release, ready: true}},
		"RollingSet":        {"a revision that is not observed yet", []client.Object{unobserved}, controlPlaneFacts{found: true, kind: "StatefulSet", name: n.release, ready: true, rolling: true}},
		"RollingDeployment": {"not all pods are of the newest", []client.Object{half}, controlPlaneFacts{found: true, kind: "Deployment", name: n.release, ready: true, rolling: true}},
		"OthersOnly":        {"an etcd of the release, or a workload elsewhere, is not the control plane", []client.Object{etcd, elsewhere}, controlPlaneFacts{}},
		"NoPodsNoEvents": {
			"not ready, and the host says nothing", []client.Object{controlPlane(n).Obj()},
			controlPlaneFacts{found: true, kind: "StatefulSet", name: n.release},
		},
		"Pod": {
			"its pod says why it is not ready", []client.Object{controlPlane(n).Obj(), pod},
			controlPlaneFacts{found: true, kind: "StatefulSet", name: n.release, trouble: "pod vc-alice-default-0: 0/1 nodes are available"},
		},
		"Refusal": {
			"without pods the newest warning about the workload says why", []client.Object{
				controlPlane(n).Obj(), normal,
				warn("old", n.release, "old", 0), warn("new", n.release, "exceeded quota: kubeopera-tenant", time.Minute), warn("other", "x", "not ours", time.Hour),
			},
			controlPlaneFacts{found: true, kind: "StatefulSet", name: n.release, trouble: "exceeded quota: kubeopera-tenant"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, tc.host...)

			got, err := w.external(alice().Obj()).readWorkload(t.Context())
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(controlPlaneFacts{})); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
