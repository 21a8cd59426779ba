// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package advisor describes the App Advisor as objects of a vCluster: a namespace
// of its own, an account that may read, a Deployment and a Service. It has no
// client.
package advisor

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// Names and ports of the App Advisor inside a vCluster.
const (
	// Namespace that it has for itself.
	Namespace = "app-advisor"
	// Name of its Deployment and Service, of its account and the account's role.
	Name = "app-advisor-srv"
	// Container is its one container.
	Container = "app-advisor"
	// Port that it listens on, over HTTP, and PortName is that port's name.
	Port     = 8080
	PortName = "http"
	// HealthPath answers with a status of 200 when it is well.
	HealthPath = "/healthz"
	// ServicePort is the port of its Service.
	ServicePort = 80
	// Endpoint of its Service, for who is inside the vCluster.
	Endpoint = "http://" + Name + "." + Namespace + ".svc:80"
)

// Object is one object of a vCluster, with its kind and version.
type Object interface {
	metav1.Object
	runtime.Object
}

// Objects are all that an App Advisor is made of, in the order in which they are
// to be made. The first is its namespace.
func Objects(s v1alpha1.AdvisorSettings) []Object {
	return []Object{namespace(), account(), role(), binding(), service(), Deployment(s)}
}

// Labels of its pods, and of no others in its namespace.
func Labels() map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":     "app-advisor",
		"app.kubernetes.io/instance": Name,
	}
}

// allLabels are those of each of its objects.
func allLabels() map[string]string {
	l := Labels()
	l["app.kubernetes.io/part-of"] = "kubeopera"
	l["app.kubernetes.io/managed-by"] = "provider-kubeopera"

	return l
}

// named is the metadata of an object in its namespace.
func named() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: Namespace, Name: Name, Labels: allLabels()}
}

func namespace() *corev1.Namespace {
	return &corev1.Namespace{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: Namespace, Labels: allLabels()},
	}
}

func account() *corev1.ServiceAccount {
	return &corev1.ServiceAccount{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta: named(),
	}
}

func binding() *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: Name, Labels: allLabels()},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: Namespace, Name: Name}},
	}
}

func service() *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: named(),
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeClusterIP,
			Selector: Labels(),
			Ports: []corev1.ServicePort{{
				Name:       PortName,
				Protocol:   corev1.ProtocolTCP,
				Port:       ServicePort,
				TargetPort: intstr.FromString(PortName),
			}},
		},
	}
}
