// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// stripManagedFields leaves out who owns which field.
var stripManagedFields = cache.TransformStripManagedFields()

// slim leaves out of an object that is to be cached what no Tenant is judged by, and what
// would be most of it: who owns which field, the volume claims and the pods of workloads,
// of whose templates the metadata is kept.
func slim(o any) (any, error) {
	switch o := o.(type) {
	case *appsv1.StatefulSet:
		o.Spec.Template.Spec, o.Spec.VolumeClaimTemplates = corev1.PodSpec{}, nil
	case *appsv1.Deployment:
		o.Spec.Template.Spec = corev1.PodSpec{}
	}

	return stripManagedFields(o)
}
