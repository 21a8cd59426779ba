// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func waiting(name, reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}
}

func ended(name string, ready bool, code int32) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, Ready: ready, LastTerminationState: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "OOMKilled"},
	}}
}

func containers(s ...corev1.ContainerStatus) corev1.PodStatus {
	return corev1.PodStatus{ContainerStatuses: s}
}

func TestPodTrouble(t *testing.T) {
	t.Parallel()

	crashing := ended("syncer", false, 1)
	crashing.State = waiting("syncer", "CrashLoopBackOff", "back-off 10s").State

	cases := map[string]struct {
		reason string
		status corev1.PodStatus
		want   []string
	}{
		"Nothing": {"a pod that starts has no trouble", containers(waiting("syncer", "ContainerCreating", "")), nil},
		"Scheduled": {
			"a scheduled pod neither",
			corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, Message: "x"}}}, nil,
		},
		"Unscheduled": {
			"one that fits nowhere has",
			corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/1 nodes are available"}}},
			[]string{"pod p: 0/1 nodes are available"},
		},
		"Image": {"an image that cannot be pulled", containers(waiting("syncer", "ImagePullBackOff", "no such image")), []string{"pod p, container syncer: ImagePullBackOff: no such image"}},
		"Config": {
			"a Secret that is missing", containers(waiting("a", "CreateContainerConfigError", `secret "s" not found`)),
			[]string{`pod p, container a: CreateContainerConfigError: secret "s" not found`},
		},
		"Init": {
			"init containers count", corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{waiting("kubernetes", "CrashLoopBackOff", "back-off")}},
			[]string{"pod p, container kubernetes: CrashLoopBackOff: back-off"},
		},
		"Ended":     {"a container that ended badly", containers(ended("syncer", false, 137)), []string{"pod p, container syncer ended with code 137 (OOMKilled)"}},
		"Crashing":  {"one that ends again and again is told by its end, which does not change", containers(crashing), []string{"pod p, container syncer ended with code 1 (OOMKilled)"}},
		"Recovered": {"one that is ready again", containers(ended("syncer", true, 137)), nil},
		"EndedWell": {"one that ended well", containers(ended("copy", false, 0)), nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := PodTrouble(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: tc.status})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPullTrouble holds that one reason has one text, as the kubelet goes from
// attempt to attempt.
func TestPullTrouble(t *testing.T) {
	t.Parallel()

	const cause = `failed to resolve reference "r.example.org/a:v1": r.example.org/a:v1: not found`

	seen := map[string]bool{}
	for _, s := range []corev1.ContainerStatus{
		waiting("a", "ErrImagePull", cause),
		waiting("a", "ImagePullBackOff", `Back-off pulling image "r.example.org/a:v1": ErrImagePull: `+cause),
	} {
		for _, w := range PodTrouble(&corev1.Pod{Status: containers(s)}) {
			seen[w] = true
		}
	}

	if diff := cmp.Diff(map[string]bool{"pod , container a: ImagePullBackOff: " + cause: true}, seen); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestSteady(t *testing.T) {
	t.Parallel()

	cases := map[string]struct{ in, want string }{
		"Plain":   {"no such image", "no such image"},
		"Dial":    {"dial tcp 10.89.0.1:5000: connect: connection refused", "dial tcp 10.89.0.1:5000: connect: connection refused"},
		"Read":    {"read tcp 10.88.0.7:48112->10.89.0.1:5000: i/o timeout", "read tcp 10.89.0.1:5000: i/o timeout"},
		"ReadV6":  {"read tcp [fd00::7]:48112->[fd00::1]:5000: i/o timeout", "read tcp [fd00::1]:5000: i/o timeout"},
		"PodName": {`Error creating: pods "app-advisor-srv-7d9c4b5f6-x8xz2" is forbidden: exceeded quota: q`, `Error creating: pods "app-advisor-srv-7d9c4b5f6-*" is forbidden: exceeded quota: q`},
		"OwnName": {`pods "vc-alice-0" is forbidden`, `pods "vc-alice-0" is forbidden`},
		"NoWords": {` pod "words-alice" `, `pod "words-alice"`}, // Vowels are never generated.
		"SetName": {`create Pod web-0 in StatefulSet web failed error: pods "web-0" is forbidden`, `create Pod web-0 in StatefulSet web failed error: pods "web-0" is forbidden`},
	}
	for name, tc := range cases {
		if got := steady(tc.in); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
