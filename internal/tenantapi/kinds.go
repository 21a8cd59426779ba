// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantapi

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// Kinds are those that are read and written inside a vCluster, and whether they
// are namespaced. They are the same in each, so that none has to be asked for them.
var Kinds = map[schema.GroupVersionKind]meta.RESTScope{
	corev1.SchemeGroupVersion.WithKind("Namespace"):                         meta.RESTScopeRoot,
	corev1.SchemeGroupVersion.WithKind("ServiceAccount"):                    meta.RESTScopeNamespace,
	corev1.SchemeGroupVersion.WithKind("Service"):                           meta.RESTScopeNamespace,
	corev1.SchemeGroupVersion.WithKind("ResourceQuota"):                     meta.RESTScopeNamespace,
	corev1.SchemeGroupVersion.WithKind("LimitRange"):                        meta.RESTScopeNamespace,
	corev1.SchemeGroupVersion.WithKind("Pod"):                               meta.RESTScopeNamespace,
	corev1.SchemeGroupVersion.WithKind("Event"):                             meta.RESTScopeNamespace,
	appsv1.SchemeGroupVersion.WithKind("Deployment"):                        meta.RESTScopeNamespace,
	rbacv1.SchemeGroupVersion.WithKind("ClusterRole"):                       meta.RESTScopeRoot,
	rbacv1.SchemeGroupVersion.WithKind("ClusterRoleBinding"):                meta.RESTScopeRoot,
	apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"): meta.RESTScopeRoot,
}

var (
	scheme = newScheme()
	mapper = newMapper()
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme, apiextensionsv1.AddToScheme,
	} {
		utilruntime.Must(add(s))
	}

	return s
}

func newMapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for gvk, scope := range Kinds {
		m.Add(gvk, scope)
	}

	return m
}
