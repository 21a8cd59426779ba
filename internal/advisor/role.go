// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisor

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// role lets the App Advisor read what runs in the vCluster and how Flux keeps it,
// and nothing that is secret. The core group and those of the cluster itself are
// named kind by kind, so that no kind that comes later is read by accident.
func role() *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: Name, Labels: allLabels()},
		Rules: []rbacv1.PolicyRule{
			read([]string{""},
				"pods", "nodes", "namespaces", "services", "endpoints", "events", "configmaps", "serviceaccounts",
				"persistentvolumeclaims", "persistentvolumes", "resourcequotas", "limitranges", "replicationcontrollers"),
			read([]string{"apps", "batch", "autoscaling", "networking.k8s.io", "policy", "metrics.k8s.io"}, rbacv1.ResourceAll),
			read([]string{"events.k8s.io"}, "events"),
			read([]string{"discovery.k8s.io"}, "endpointslices"),
			read([]string{"storage.k8s.io"}, "storageclasses"),
			read([]string{"apiextensions.k8s.io"}, "customresourcedefinitions"),
			read([]string{
				"source.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io",
				"notification.toolkit.fluxcd.io", "image.toolkit.fluxcd.io",
			}, rbacv1.ResourceAll),
		},
	}
}

func read(groups []string, resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: groups, Resources: resources, Verbs: []string{"get", "list", "watch"}}
}
