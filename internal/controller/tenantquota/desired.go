// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantquota

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/quota"
)

// name of the ResourceQuota and of the LimitRange in each namespace.
const name = "kubeopera-tenant"

// namespaceQuota is what is wanted in one namespace of a vCluster.
type namespaceQuota struct {
	// namespace is made when it does not exist, and then left alone.
	namespace inside.Wanted
	// limits come before the quota: the quota alone refuses what asks for nothing.
	limits, quota inside.Wanted
}

// namespacesOf are the namespaces that the quota is wanted in, sorted.
func namespacesOf(q *v1alpha1.TenantQuota) []string {
	out := slices.Clone(q.Spec.Namespaces)
	if len(out) == 0 {
		out = []string{metav1.NamespaceDefault}
	}

	slices.Sort(out)

	return slices.Compact(out)
}

// desire is what is wanted in each namespace, marked as the owner's. Who has the
// limits of a namespace has its quota.
func desire(o inside.Owner, q *v1alpha1.TenantQuota) ([]namespaceQuota, error) {
	names := namespacesOf(q)
	out := make([]namespaceQuota, len(names))

	for i, namespace := range names {
		ns := &corev1.Namespace{TypeMeta: typeMeta("Namespace"), ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		o.Provide(ns)

		in := metav1.ObjectMeta{Namespace: namespace, Name: name}
		limits := &corev1.LimitRange{TypeMeta: typeMeta("LimitRange"), ObjectMeta: in, Spec: limitRange(q.Spec.Hard)}
		o.Stamp(limits)

		hard := &corev1.ResourceQuota{TypeMeta: typeMeta("ResourceQuota"), ObjectMeta: in}
		hard.Spec.Hard = q.Spec.Hard.DeepCopy()
		o.Stamp(hard)

		var err error
		if out[i].namespace, err = inside.Want(ns, false); err != nil {
			return nil, err
		}

		if out[i].limits, err = inside.Want(limits, true); err != nil {
			return nil, err
		}

		if out[i].quota, err = inside.Want(hard, false); err != nil {
			return nil, fmt.Errorf("cannot use spec.hard: %w", err)
		}
	}

	return out, nil
}

func typeMeta(kind string) metav1.TypeMeta { return metav1.TypeMeta{APIVersion: "v1", Kind: kind} }

// limitRange gives containers that ask for nothing as much as other namespaces'
// do, or else as much as the whole quota: more would refuse each of them. A quota
// of nothing does refuse them.
func limitRange(hard corev1.ResourceList) corev1.LimitRangeSpec {
	out := quota.LimitRange()

	for i := range out.Limits {
		l := &out.Limits[i]
		lower(l.Default, corev1.ResourceCPU, hard, corev1.ResourceLimitsCPU)
		lower(l.Default, corev1.ResourceMemory, hard, corev1.ResourceLimitsMemory)
		lower(l.DefaultRequest, corev1.ResourceCPU, hard, corev1.ResourceRequestsCPU, corev1.ResourceCPU)
		lower(l.DefaultRequest, corev1.ResourceMemory, hard, corev1.ResourceRequestsMemory, corev1.ResourceMemory)
		lower(l.DefaultRequest, corev1.ResourceCPU, l.Default, corev1.ResourceCPU)
		lower(l.DefaultRequest, corev1.ResourceMemory, l.Default, corev1.ResourceMemory)
	}

	return out
}

// lower the quantity of that name to the smallest of the bounds that are above 0.
func lower(l corev1.ResourceList, name corev1.ResourceName, bounds corev1.ResourceList, by ...corev1.ResourceName) {
	for _, b := range by {
		if bound, ok := bounds[b]; ok && isBelow(bound, l[name]) {
			l[name] = bound.DeepCopy()
		}
	}
}

func isBelow(bound, q resource.Quantity) bool { return bound.Sign() > 0 && bound.Cmp(q) < 0 }
