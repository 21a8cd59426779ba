// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// maxNamed is how many CRDs a message names.
const maxNamed = 3

// Observed is what was found of Flux inside the virtual cluster.
type Observed struct {
	// Deployments in the namespaces of those that are expected. Others may be
	// among them.
	Deployments []appsv1.Deployment
	// Established says whether the virtual cluster serves what a CRD defines, in
	// all of its versions. It must be set where CRDs are expected.
	Established func(CRD) bool
	// Trouble says, by the namespace/name of a Deployment, what its pods suffer
	// from.
	Trouble map[string]string
}

// Health says whether all Deployments are available in their newest form and all
// CRDs are established, and in words what is there or what is missing. The words
// stay the same as long as what was observed does, in whatever order.
func Health(want Parts, got Observed) (ready bool, message string) {
	if len(want.Deployments) == 0 {
		return false, "the values of Flux turn all of its controllers off"
	}

	live := map[string]*appsv1.Deployment{}
	for i := range got.Deployments {
		d := &got.Deployments[i]
		live[d.GetNamespace()+"/"+d.GetName()] = d
	}

	var wrong, right []string

	for _, d := range want.Deployments {
		if trouble := deploymentTrouble(d, live[d.String()], got.Trouble[d.String()]); trouble != "" {
			wrong = append(wrong, trouble)
		} else {
			right = append(right, d.Name)
		}
	}

	if trouble := crdTrouble(want.CRDs, got.Established); trouble != "" {
		wrong = append(wrong, trouble)
	}

	if len(wrong) > 0 {
		return false, strings.Join(wrong, "; ")
	}

	return true, "available: " + strings.Join(right, ", ")
}

// deploymentTrouble says what is wrong with a Deployment, or nothing.
func deploymentTrouble(want Deployment, live *appsv1.Deployment, pods string) string {
	if live == nil {
		return describe(want, want.Images) + ": it is missing"
	}

	short := shortOf(want, live)
	if short == "" {
		return ""
	}

	words := []string{short}
	if reason := conditionTrouble(live.Status.Conditions); reason != "" {
		words = append(words, reason)
	}

	if pods != "" {
		words = append(words, pods)
	}

	return describe(want, imagesOf(live)) + ": " + strings.Join(words, ", ")
}

func describe(d Deployment, images []string) string {
	return fmt.Sprintf("Deployment %s (image %s)", d, strings.Join(images, ", "))
}

// shortOf says what a Deployment is short of, or nothing. Its condition Available
// does not tell: an update without a surge may leave it true with no pod at all.
func shortOf(want Deployment, live *appsv1.Deployment) string {
	replicas := ptr.Deref(live.Spec.Replicas, 1)
	s := live.Status

	switch {
	case live.GetDeletionTimestamp() != nil:
		return "it is being deleted"
	case replicas == 0 && want.Replicas > 0:
		return "it is scaled to 0 replicas"
	case s.ObservedGeneration < live.GetGeneration():
		return "its last change has not been taken up yet"
	case s.UpdatedReplicas < replicas:
		return fmt.Sprintf("%d of %d replicas are up to date", s.UpdatedReplicas, replicas)
	case s.Replicas > s.UpdatedReplicas:
		return fmt.Sprintf("%d old replicas are still there", s.Replicas-s.UpdatedReplicas)
	case s.AvailableReplicas < replicas:
		return fmt.Sprintf("%d of %d replicas are available", s.AvailableReplicas, replicas)
	default:
		return ""
	}
}

// conditionTrouble is why Kubernetes makes no progress with a Deployment, if it
// says so.
func conditionTrouble(conditions []appsv1.DeploymentCondition) string {
	bad := map[appsv1.DeploymentConditionType]corev1.ConditionStatus{
		appsv1.DeploymentReplicaFailure: corev1.ConditionTrue,
		appsv1.DeploymentProgressing:    corev1.ConditionFalse,
	}

	var out []string

	for _, c := range conditions {
		if status, ok := bad[c.Type]; ok && status == c.Status {
			out = append(out, c.Reason+": "+strings.TrimSuffix(c.Message, "."))
		}
	}

	slices.Sort(out)

	return strings.Join(out, ", ")
}

// crdTrouble names CRDs that are not established, or nothing.
func crdTrouble(want []CRD, established func(CRD) bool) string {
	var missing []string

	for _, c := range want {
		if !established(c) {
			missing = append(missing, c.Name)
		}
	}

	if len(missing) == 0 {
		return ""
	}

	more := ""
	if n := len(missing) - maxNamed; n > 0 {
		missing, more = missing[:maxNamed], fmt.Sprintf(" and %d more", n)
	}

	return "not established: CustomResourceDefinition " + strings.Join(missing, ", ") + more
}
