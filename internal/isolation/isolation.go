// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package isolation says what walls the pods in a Tenant's host namespace off: two
// NetworkPolicies and a Pod Security Standard. It is pure.
package isolation

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const (
	// TenantPolicy is the name of the NetworkPolicy for all pods.
	TenantPolicy = "kubeopera-tenant"
	// ControlPlanePolicy is the name of the NetworkPolicy that adds what the vCluster's
	// control plane needs.
	ControlPlanePolicy = "kubeopera-control-plane"
)

// Labels of a namespace that Pod Security admission goes by.
const (
	labelEnforce        = "pod-security.kubernetes.io/enforce"
	labelEnforceVersion = "pod-security.kubernetes.io/enforce-version"
)

// dnsNamespace and dnsPort are where the host cluster's DNS answers.
const (
	dnsNamespace = metav1.NamespaceSystem
	dnsPort      = 53
)

// PodSecurity are the labels of a host namespace for the Pod Security Standard of i, in
// the host's own version of it. Nil stands for the default. What is to be warned of or
// audited is not said: it would be what is refused anyway.
func PodSecurity(i *v1alpha1.Isolation) map[string]string {
	level := cmp.Or(ptr.Deref(i, v1alpha1.Isolation{}).PodSecurity, v1alpha1.PodSecurityBaseline)

	return map[string]string{labelEnforce: string(level), labelEnforceVersion: "latest"}
}

// Tenant is the policy for all pods of a host namespace, in the form in which an API
// server stores it. Nil stands for the defaults, which leave out where the policy of the
// control plane leads to: the host's API, should that be at a public address.
func Tenant(i *v1alpha1.Isolation, controlPlane networkingv1.NetworkPolicySpec) networkingv1.NetworkPolicySpec {
	rules := i.DeepCopy()
	if rules == nil {
		rules = &v1alpha1.Isolation{}
	}

	if rules.Ingress == nil {
		from := append([]networkingv1.NetworkPolicyPeer{noTenants()}, publicNetworks()...)
		rules.Ingress = []networkingv1.NetworkPolicyIngressRule{{From: from}}
	}

	if rules.Egress == nil {
		rules.Egress = []networkingv1.NetworkPolicyEgressRule{{To: publicNetworks(networksOf(controlPlane)...)}}
	}

	for _, r := range rules.Ingress {
		setProtocols(r.Ports)
	}

	for _, r := range rules.Egress {
		setProtocols(r.Ports)
	}

	own := []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{}}}

	return networkingv1.NetworkPolicySpec{
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
		Ingress:     append([]networkingv1.NetworkPolicyIngressRule{{From: own}}, rules.Ingress...),
		Egress:      append([]networkingv1.NetworkPolicyEgressRule{{To: own}, dns()}, rules.Egress...),
	}
}

// noTenants are all pods of namespaces that are no Tenant's.
func noTenants() networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: v1alpha1.LabelTenantUID, Operator: metav1.LabelSelectorOpDoesNotExist}},
	}}
}

func dns() networkingv1.NetworkPolicyEgressRule {
	port := func(p corev1.Protocol) networkingv1.NetworkPolicyPort {
		return networkingv1.NetworkPolicyPort{Protocol: &p, Port: ptr.To(intstr.FromInt32(dnsPort))}
	}

	return networkingv1.NetworkPolicyEgressRule{
		To: []networkingv1.NetworkPolicyPeer{{NamespaceSelector: &metav1.LabelSelector{
			MatchLabels: map[string]string{corev1.LabelMetadataName: dnsNamespace},
		}}},
		Ports: []networkingv1.NetworkPolicyPort{port(corev1.ProtocolUDP), port(corev1.ProtocolTCP)},
	}
}

// setProtocols writes out the protocol that an API server takes for none.
func setProtocols(ports []networkingv1.NetworkPolicyPort) {
	for i := range ports {
		if ports[i].Protocol == nil {
			ports[i].Protocol = ptr.To(corev1.ProtocolTCP)
		}
	}
}
