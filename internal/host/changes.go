// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// matters says whether a change of a watched object can change what a Tenant
// finds. What its workloads do all day, such as the use of a quota, does not: a wall
// that comes down follows that at the poll. It must not sooner, since what falls
// may be a pod of the platform that is just made anew.
func matters(before, after client.Object) bool {
	if before.GetResourceVersion() == after.GetResourceVersion() {
		return false // A resync.
	}

	if !equality.Semantic.DeepEqual(before.GetLabels(), after.GetLabels()) ||
		!equality.Semantic.DeepEqual(before.GetAnnotations(), after.GetAnnotations()) ||
		!before.GetDeletionTimestamp().Equal(after.GetDeletionTimestamp()) {
		return true
	}

	return contentMatters(before, after)
}

// contentMatters says so of what is not in the metadata.
func contentMatters(before, after client.Object) bool {
	switch a := after.(type) {
	case *corev1.ResourceQuota:
		b, ok := before.(*corev1.ResourceQuota)
		return !ok || !equality.Semantic.DeepEqual(b.Spec, a.Spec)
	case *appsv1.StatefulSet:
		b, ok := before.(*appsv1.StatefulSet)
		return !ok || b.Generation != a.Generation || !equality.Semantic.DeepEqual(b.Status, a.Status)
	case *appsv1.Deployment:
		b, ok := before.(*appsv1.Deployment)
		return !ok || b.Generation != a.Generation || !equality.Semantic.DeepEqual(b.Status, a.Status)
	case *discoveryv1.EndpointSlice:
		b, ok := before.(*discoveryv1.EndpointSlice)
		return !ok || !equality.Semantic.DeepEqual(b.Endpoints, a.Endpoints) || !equality.Semantic.DeepEqual(b.Ports, a.Ports)
	default:
		return true
	}
}
