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
		want   workload
	}{
		"None":              {"there is none", nil, workload{}},
		"StatefulSet":       {"with persistence", []client.Object{controlPlane(n).Ready().Obj()}, workload{found: true, kind: "StatefulSet", name: n.release, ready: true}},
		"Deployment":        {"without persistence", []client.Object{deployment}, workload{found: true, kind: "Deployment", name: n.release, ready: true}},
		"RollingSet":        {"a revision that is not observed yet", []client.Object{unobserved}, workload{found: true, kind: "StatefulSet", name: n.release, ready: true, rolling: true}},
		"RollingDeployment": {"not all pods are of the newest", []client.Object{half}, workload{found: true, kind: "Deployment", name: n.release, ready: true, rolling: true}},
		"OthersOnly":        {"an etcd of the release, or a workload elsewhere, is not the control plane", []client.Object{etcd, elsewhere}, workload{}},
		"NoPodsNoEvents": {
			"not ready, and the host says nothing", []client.Object{controlPlane(n).Obj()},
			workload{found: true, kind: "StatefulSet", name: n.release},
		},
		"Pod": {
			"its pod says why it is not ready", []client.Object{controlPlane(n).Obj(), pod},
			workload{found: true, kind: "StatefulSet", name: n.release, trouble: "pod vc-alice-default-0: 0/1 nodes are available"},
		},
		"Refusal": {
			"without pods the newest warning about the workload says why", []client.Object{
				controlPlane(n).Obj(), normal,
				warn("old", n.release, "old", 0), warn("new", n.release, "exceeded quota: kubeopera-tenant", time.Minute), warn("other", "x", "not ours", time.Hour),
			},
			workload{found: true, kind: "StatefulSet", name: n.release, trouble: "exceeded quota: kubeopera-tenant"},
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

			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(workload{})); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestPodTrouble(t *testing.T) {
	t.Parallel()

	waiting := func(name, reason, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
	}
	ended := func(name string, ready bool, code int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: name, Ready: ready, LastTerminationState: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "OOMKilled"},
		}}
	}

	cases := map[string]struct {
		reason string
		status corev1.PodStatus
		want   []string
	}{
		"Nothing":   {"a pod that starts has no trouble", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waiting("syncer", "ContainerCreating", "")}}, nil},
		"Scheduled": {"a scheduled pod neither", corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, Message: "x"}}}, nil},
		"Image": {
			"an image that cannot be pulled",
			corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waiting("syncer", "ImagePullBackOff", "no such image")}},
			[]string{"pod p, container syncer: ImagePullBackOff: no such image"},
		},
		"Init": {
			"init containers count", corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{waiting("kubernetes", "CrashLoopBackOff", "back-off")}},
			[]string{"pod p, container kubernetes: CrashLoopBackOff: back-off"},
		},
		"Ended": {"a container that ended badly", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{ended("syncer", false, 137)}}, []string{"pod p, container syncer ended with code 137 (OOMKilled)"}},
		"Crashing": {
			"one that ends again and again is told by its end, which does not change",
			func() corev1.PodStatus {
				c := ended("syncer", false, 1)
				c.State = waiting("syncer", "CrashLoopBackOff", "back-off 10s").State

				return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{c}}
			}(),
			[]string{"pod p, container syncer ended with code 1 (OOMKilled)"},
		},
		"Recovered": {"one that is ready again", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{ended("syncer", true, 137)}}, nil},
		"EndedWell": {"one that ended well", corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{ended("copy", false, 0)}}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := podTrouble(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: tc.status})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
