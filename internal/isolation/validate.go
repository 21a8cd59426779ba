// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// Validate errs on rules that an API server refuses in a NetworkPolicy. The error names
// the first such field, below isolation, and says what it may be.
func Validate(i *v1alpha1.Isolation) error {
	var all field.ErrorList

	of, rules := field.NewPath("isolation"), ptr.Deref(i, v1alpha1.Isolation{})
	for n, r := range rules.Egress {
		all = append(all, validateRule(of.Child("egress").Index(n), "to", r.To, r.Ports)...)
	}

	for n, r := range rules.Ingress {
		all = append(all, validateRule(of.Child("ingress").Index(n), "from", r.From, r.Ports)...)
	}

	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	default:
		return fmt.Errorf("%w, and %d more", all[0], len(all)-1)
	}
}

func validateRule(at *field.Path, peers string, to []networkingv1.NetworkPolicyPeer, ports []networkingv1.NetworkPolicyPort) field.ErrorList {
	var out field.ErrorList

	for i, p := range to {
		out = append(out, validatePeer(at.Child(peers).Index(i), p)...)
	}

	for i, p := range ports {
		out = append(out, validatePort(at.Child("ports").Index(i), p)...)
	}

	return out
}

func validatePeer(at *field.Path, p networkingv1.NetworkPolicyPeer) field.ErrorList {
	var out field.ErrorList

	if p.PodSelector != nil {
		out = append(out, metav1validation.ValidateLabelSelector(p.PodSelector, metav1validation.LabelSelectorValidationOptions{}, at.Child("podSelector"))...)
	}

	if p.NamespaceSelector != nil {
		out = append(out, metav1validation.ValidateLabelSelector(p.NamespaceSelector, metav1validation.LabelSelectorValidationOptions{}, at.Child("namespaceSelector"))...)
	}

	switch {
	case p.IPBlock == nil && p.PodSelector == nil && p.NamespaceSelector == nil:
		out = append(out, field.Required(at, "must have a podSelector, a namespaceSelector or an ipBlock"))
	case p.IPBlock != nil && (p.PodSelector != nil || p.NamespaceSelector != nil):
		out = append(out, field.Forbidden(at, "must not have both an ipBlock and a selector"))
	}

	if p.IPBlock != nil {
		out = append(out, validateBlock(at.Child("ipBlock"), *p.IPBlock)...)
	}

	return out
}

func validateBlock(at *field.Path, b networkingv1.IPBlock) field.ErrorList {
	out := validation.IsValidCIDR(at.Child("cidr"), b.CIDR)
	network, err := netip.ParsePrefix(b.CIDR)

	for i, e := range b.Except {
		at := at.Child("except").Index(i)
		out = append(out, validation.IsValidCIDR(at, e)...)

		if part, perr := netip.ParsePrefix(e); err == nil && perr == nil && (!network.Contains(part.Addr()) || part.Bits() <= network.Bits()) {
			out = append(out, field.Invalid(at, e, fmt.Sprintf("must be a part of cidr %q", b.CIDR)))
		}
	}

	return out
}

func validatePort(at *field.Path, p networkingv1.NetworkPolicyPort) field.ErrorList {
	var out field.ErrorList

	protocols := []corev1.Protocol{corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP}
	if p.Protocol != nil && !slices.Contains(protocols, *p.Protocol) {
		out = append(out, field.NotSupported(at.Child("protocol"), *p.Protocol, protocols))
	}

	switch {
	case p.Port != nil && p.Port.Type == intstr.String:
		out = append(out, invalid(at.Child("port"), p.Port.StrVal, validation.IsValidPortName(p.Port.StrVal))...)
	case p.Port != nil:
		out = append(out, invalid(at.Child("port"), p.Port.IntVal, validation.IsValidPortNum(p.Port.IntValue()))...)
	}

	switch {
	case p.EndPort == nil:
	case p.Port == nil || p.Port.Type == intstr.String:
		out = append(out, field.Forbidden(at.Child("endPort"), "needs port to be a number"))
	case *p.EndPort < p.Port.IntVal:
		out = append(out, field.Invalid(at.Child("endPort"), *p.EndPort, "must not be less than port"))
	default:
		out = append(out, invalid(at.Child("endPort"), *p.EndPort, validation.IsValidPortNum(int(*p.EndPort)))...)
	}

	return out
}

func invalid(at *field.Path, value any, why []string) field.ErrorList {
	var out field.ErrorList
	for _, w := range why {
		out = append(out, field.Invalid(at, value, w))
	}

	return out
}
