// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// healthy is a Deployment of one replica that is up to date and available.
func healthy(name string) appsv1.Deployment {
	return appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name, Generation: 3},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To(int32(1)),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Image: "live/" + name + ":v1"}}}},
		},
		Status: appsv1.DeploymentStatus{ObservedGeneration: 3, Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1},
	}
}

// unavailable has no pod, and conditions as Kubernetes sets them without a surge.
func unavailable(name string, conditions ...appsv1.DeploymentCondition) appsv1.Deployment {
	out := healthy(name)
	out.Status.AvailableReplicas = 0
	out.Status.Conditions = append([]appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable", Message: "Deployment has minimum availability."},
		{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "ReplicaSetUpdated", Message: "is progressing."},
		{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionFalse, Reason: "X", Message: "none"},
	}, conditions...)

	return out
}

func changed(d appsv1.Deployment, change func(*appsv1.Deployment)) appsv1.Deployment {
	change(&d)
	return d
}

func expected(name string) Deployment {
	return Deployment{Namespace: Namespace, Name: name, Replicas: 1, Images: []string{"wanted/" + name + ":v2"}}
}

func TestHealth(t *testing.T) {
	t.Parallel()

	both := []Deployment{expected("helm-controller"), expected("source-controller")}
	crds := []CRD{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}, {Name: "e"}}
	refused := appsv1.DeploymentCondition{
		Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate",
		Message: `pods "x" is forbidden: exceeded quota`,
	}
	late := appsv1.DeploymentCondition{
		Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded",
		Message: `ReplicaSet "x" has timed out progressing.`,
	}

	cases := map[string]struct {
		reason      string
		want        Parts
		have        []appsv1.Deployment
		established []string
		trouble     map[string]string
		ready       bool
		message     string
	}{
		"Ready": {
			reason: "everything is there, and more",
			want:   Parts{Deployments: both, CRDs: crds[:2]}, have: []appsv1.Deployment{healthy("source-controller"), healthy("other"), healthy("helm-controller")},
			established: []string{"a", "b"}, trouble: map[string]string{"flux-system/helm-controller": "restarted once"},
			ready: true, message: "available: helm-controller, source-controller",
		},
		"NoCRDs": {
			reason: "without CRDs none is looked for",
			want:   Parts{Deployments: both[:1]}, have: []appsv1.Deployment{healthy("helm-controller")},
			ready: true, message: "available: helm-controller",
		},
		"Nothing": {reason: "no controller is no Flux", message: "the values of Flux turn all of its controllers off"},
		"Missing": {
			reason: "one is not there: the image is the one that is wanted",
			want:   Parts{Deployments: both}, have: []appsv1.Deployment{healthy("helm-controller")},
			message: "Deployment flux-system/source-controller (image wanted/source-controller:v2): it is missing",
		},
		"OtherNamespace": {
			reason: "one of the same name elsewhere is another",
			want:   Parts{Deployments: both[:1]}, have: []appsv1.Deployment{changed(healthy("helm-controller"), func(d *appsv1.Deployment) { d.Namespace = "x" })},
			message: "Deployment flux-system/helm-controller (image wanted/helm-controller:v2): it is missing",
		},
		"Unavailable": {
			reason: "the condition Available is true without a surge, and does not count; the image is the one that is there",
			want:   Parts{Deployments: both[:1]}, have: []appsv1.Deployment{unavailable("helm-controller")},
			message: "Deployment flux-system/helm-controller (image live/helm-controller:v1): 0 of 1 replicas are available",
		},
		"Refused": {
			reason: "a quota refuses its pods",
			want:   Parts{Deployments: both[:1]}, have: []appsv1.Deployment{unavailable("helm-controller", refused)},
			message: `Deployment flux-system/helm-controller (image live/helm-controller:v1): 0 of 1 replicas are available, FailedCreate: pods "x" is forbidden: exceeded quota`,
		},
		"LateAndTrouble": {
			reason: "all that is known is told, in one order",
			want:   Parts{Deployments: both[:1]}, have: []appsv1.Deployment{unavailable("helm-controller", late, refused)},
			trouble: map[string]string{"flux-system/helm-controller": "ImagePullBackOff", "helm-controller": "no"},
			message: `Deployment flux-system/helm-controller (image live/helm-controller:v1): 0 of 1 replicas are available, ` +
				`FailedCreate: pods "x" is forbidden: exceeded quota, ProgressDeadlineExceeded: ReplicaSet "x" has timed out progressing, ImagePullBackOff`,
		},
		"Unseen": {
			reason: "a change that the controller has not seen says nothing of the new form",
			want:   Parts{Deployments: both[:1]}, have: []appsv1.Deployment{changed(healthy("helm-controller"), func(d *appsv1.Deployment) { d.Generation = 4 })},
			message: "Deployment flux-system/helm-controller (image live/helm-controller:v1): its last change has not been taken up yet",
		},
		"Updating": {
			reason: "an old pod that is available is not the newest form",
			want:   Parts{Deployments: both[:1]}, have: []appsv1.Deployment{changed(healthy("helm-controller"), func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 0 })},
			message: "Deployment flux-system/helm-controller (image live/helm-controller:v1): 0 of 1 replicas are up to date",
		},
		"OldLeft": {
			reason: "nor is one beside the new one",
			want:   Parts{Deployments: both[:1]}, have: []appsv1.Deployment{changed(healthy("helm-controller"), func(d *appsv1.Deployment) { d.Status.Replicas = 2 })},
			message: "Deployment flux-system/helm-controller (image live/helm-controller:v1): 1 old replicas are still there",
		},
		"Scaled": {
			reason: "someone has scaled it to nothing",
			want:   Parts{Deployments: both[:1]}, have: []appsv1.Deployment{changed(healthy("helm-controller"), func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To(int32(0)) })},
			message: "Deployment flux-system/helm-controller (image live/helm-controller:v1): it is scaled to 0 replicas",
		},
		"ScaledByValues": {
			reason: "the values say so",
			want:   Parts{Deployments: []Deployment{{Namespace: Namespace, Name: "helm-controller"}}},
			have: []appsv1.Deployment{changed(healthy("helm-controller"), func(d *appsv1.Deployment) {
				d.Spec.Replicas, d.Status = ptr.To(int32(0)), appsv1.DeploymentStatus{ObservedGeneration: 3}
			})},
			ready: true, message: "available: helm-controller",
		},
		"ScaledUp": {
			reason: "someone has scaled it up: what it asks for itself counts",
			want:   Parts{Deployments: both[:1]}, have: []appsv1.Deployment{changed(healthy("helm-controller"), func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To(int32(2)) })},
			message: "Deployment flux-system/helm-controller (image live/helm-controller:v1): 1 of 2 replicas are up to date",
		},
		"Deleting": {
			reason: "what is being deleted does not count, though it runs",
			want:   Parts{Deployments: both[:1]},
			have: []appsv1.Deployment{changed(healthy("helm-controller"), func(d *appsv1.Deployment) {
				d.DeletionTimestamp = ptr.To(metav1.NewTime(time.Unix(1, 0)))
			})},
			message: "Deployment flux-system/helm-controller (image live/helm-controller:v1): it is being deleted",
		},
		"CRD": {
			reason: "a kind is not served yet",
			want:   Parts{Deployments: both[:1], CRDs: crds[:3]}, have: []appsv1.Deployment{healthy("helm-controller")}, established: []string{"a", "c"},
			message: "not established: CustomResourceDefinition b",
		},
		"All": {
			reason:  "everything is wrong: sorted, and not all CRDs are listed",
			want:    Parts{Deployments: both, CRDs: crds},
			message: "Deployment flux-system/helm-controller (image wanted/helm-controller:v2): it is missing; Deployment flux-system/source-controller (image wanted/source-controller:v2): it is missing; not established: CustomResourceDefinition a, b, c and 2 more",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for range 2 {
				ready, message := Health(tc.want, Observed{
					Deployments: tc.have,
					Established: func(c CRD) bool { return slices.Contains(tc.established, c.Name) },
					Trouble:     tc.trouble,
				})
				if ready != tc.ready || message != tc.message {
					t.Errorf("%s: got %t, %q, want %t, %q", tc.reason, ready, message, tc.ready, tc.message)
				}

				// Another order of what is observed, the same words.
				slices.Reverse(tc.have)

				for i := range tc.have {
					slices.Reverse(tc.have[i].Status.Conditions)
				}
			}
		})
	}
}
