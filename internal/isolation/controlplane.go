// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// APIService is the Service of a cluster's own API, in APINamespace.
const (
	APIService   = "kubernetes"
	APINamespace = metav1.NamespaceDefault
)

// ErrNoAPI says that no address of the host's API is known.
var ErrNoAPI = errors.New("no address of the host cluster's API is known")

// ControlPlane is the policy that lets the control plane of a release reach the host's
// API at the addresses of these EndpointSlices of its Service, in whatever order they
// come. One that is listed and not ready is one that was and may be again. It errs with
// ErrNoAPI when there is none.
func ControlPlane(release string, slicesOf []discoveryv1.EndpointSlice) (networkingv1.NetworkPolicySpec, error) {
	// Addresses by the ports at which they answer.
	at := map[string]map[netip.Addr]bool{}
	ports := map[string][]networkingv1.NetworkPolicyPort{}

	for _, s := range slicesOf {
		p := portsOf(s)

		var key string
		for _, one := range p {
			key += word(one) + " "
		}

		for _, a := range addressesOf(s) {
			if at[key] == nil {
				at[key] = map[netip.Addr]bool{}
			}

			at[key][a], ports[key] = true, p
		}
	}

	if len(at) == 0 {
		return networkingv1.NetworkPolicySpec{}, fmt.Errorf("%w: the EndpointSlices of Service %q in namespace %q have none", ErrNoAPI, APIService, APINamespace)
	}

	out := networkingv1.NetworkPolicySpec{
		PodSelector: metav1.LabelSelector{
			MatchLabels: vcluster.ControlPlaneLabels(release),
			// What a virtual cluster syncs is the tenant's, whatever other labels it has.
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: vcluster.LabelSyncedBy, Operator: metav1.LabelSelectorOpDoesNotExist}},
		},
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress},
	}

	for _, key := range slices.Sorted(maps.Keys(at)) {
		rule := networkingv1.NetworkPolicyEgressRule{Ports: ports[key]}

		for _, a := range slices.SortedFunc(maps.Keys(at[key]), netip.Addr.Compare) {
			rule.To = append(rule.To, block(netip.PrefixFrom(a, a.BitLen())))
		}

		out.Egress = append(out.Egress, rule)
	}

	return out, nil
}

func addressesOf(s discoveryv1.EndpointSlice) []netip.Addr {
	var out []netip.Addr

	for _, e := range s.Endpoints {
		for _, address := range e.Addresses {
			// A name cannot stand in a policy.
			if a, err := netip.ParseAddr(address); err == nil {
				out = append(out, a.Unmap())
			}
		}
	}

	return out
}

// portsOf are the ports of the slice, sorted; none stand for all.
func portsOf(s discoveryv1.EndpointSlice) []networkingv1.NetworkPolicyPort {
	var out []networkingv1.NetworkPolicyPort

	for _, p := range s.Ports {
		port := networkingv1.NetworkPolicyPort{Protocol: ptr.To(ptr.Deref(p.Protocol, corev1.ProtocolTCP))}
		if p.Port != nil {
			port.Port = ptr.To(intstr.FromInt32(*p.Port))
		}

		out = append(out, port)
	}

	slices.SortFunc(out, func(a, b networkingv1.NetworkPolicyPort) int { return cmp.Compare(word(a), word(b)) })

	return out
}

// word is the port in a form that sorts.
func word(p networkingv1.NetworkPolicyPort) string {
	return string(*p.Protocol) + "/" + p.Port.String()
}
