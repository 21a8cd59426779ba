// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// ready and unready are endpoints at these addresses.
func ready(addresses ...string) discoveryv1.Endpoint {
	return discoveryv1.Endpoint{Addresses: addresses, Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)}}
}

func unready(addresses ...string) discoveryv1.Endpoint {
	return discoveryv1.Endpoint{Addresses: addresses, Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(false)}}
}

// slice has these endpoints at these ports of TCP.
func slice(ports []int32, endpoints ...discoveryv1.Endpoint) discoveryv1.EndpointSlice {
	out := discoveryv1.EndpointSlice{Endpoints: endpoints}
	for _, p := range ports {
		out.Ports = append(out.Ports, discoveryv1.EndpointPort{Port: ptr.To(p)})
	}

	return out
}

// to is the rule that leads there.
func to(ports []int32, networks ...string) egressRule {
	var out egressRule
	for _, n := range networks {
		out.To = append(out.To, peer{IPBlock: &networkingv1.IPBlock{CIDR: n}})
	}

	for _, p := range ports {
		out.Ports = append(out.Ports, port{Protocol: ptr.To(corev1.ProtocolTCP), Port: ptr.To(intstr.FromInt32(p))})
	}

	return out
}

func TestControlPlane(t *testing.T) {
	t.Parallel()

	api := []int32{6443}
	unnamed := discoveryv1.Endpoint{Addresses: []string{"10.0.0.1"}}
	allPorts := discoveryv1.EndpointSlice{Endpoints: []discoveryv1.Endpoint{unnamed}, Ports: []discoveryv1.EndpointPort{{Protocol: ptr.To(corev1.ProtocolUDP)}}}

	cases := map[string]struct {
		reason string
		slices []discoveryv1.EndpointSlice
		want   []egressRule
		err    error
	}{
		"One":     {"one API server", []discoveryv1.EndpointSlice{slice(api, ready("10.0.0.1"))}, []egressRule{to(api, "10.0.0.1/32")}, nil},
		"IPv6":    {"of IPv6", []discoveryv1.EndpointSlice{slice(api, ready("fd00::1"))}, []egressRule{to(api, "fd00::1/128")}, nil},
		"Unsaid":  {"that nothing is said of its readiness means that it is", []discoveryv1.EndpointSlice{slice(api, unnamed)}, []egressRule{to(api, "10.0.0.1/32")}, nil},
		"Several": {"each once, sorted as addresses", []discoveryv1.EndpointSlice{slice(api, ready("10.0.0.10"), ready("10.0.0.9")), slice(api, ready("10.0.0.10", "9.0.0.1"))}, []egressRule{to(api, "9.0.0.1/32", "10.0.0.9/32", "10.0.0.10/32")}, nil},
		"Ports": {
			"other ports are other rules", []discoveryv1.EndpointSlice{slice(api, ready("10.0.0.2")), slice([]int32{6443, 443}, ready("10.0.0.1"))},
			[]egressRule{to([]int32{443, 6443}, "10.0.0.1/32"), to(api, "10.0.0.2/32")}, nil,
		},
		"AllPorts": {"a port without a number is all of its protocol", []discoveryv1.EndpointSlice{allPorts}, []egressRule{{
			To: to(nil, "10.0.0.1/32").To, Ports: []port{{Protocol: ptr.To(corev1.ProtocolUDP)}},
		}}, nil},
		"NoPorts": {"and no port is all", []discoveryv1.EndpointSlice{slice(nil, ready("10.0.0.1"))}, []egressRule{to(nil, "10.0.0.1/32")}, nil},
		"Unready": {"one that does not answer for a moment changes nothing", []discoveryv1.EndpointSlice{slice(api, unready("10.0.0.1"), ready("10.0.0.2"))}, []egressRule{to(api, "10.0.0.1/32", "10.0.0.2/32")}, nil},
		"AllDown": {"nor do all", []discoveryv1.EndpointSlice{slice(api, unready("10.0.0.1"))}, []egressRule{to(api, "10.0.0.1/32")}, nil},
		"Name":    {"a name is no address", []discoveryv1.EndpointSlice{slice(api, ready("api.example.org"))}, nil, ErrNoAPI},
		"None":    {"nor is nothing", nil, nil, ErrNoAPI},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := ControlPlane("vc-alice", tc.slices)
			if !errors.Is(err, tc.err) {
				t.Fatalf("%s: got error %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.want, got.Egress); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			slices.Reverse(tc.slices)

			if again, _ := ControlPlane("vc-alice", tc.slices); !cmp.Equal(got, again) {
				t.Errorf("%s: the order in which they come makes a difference", tc.reason)
			}
		})
	}
}

// TestControlPlaneSelects holds whom the policy is for, and that it opens nothing
// towards them.
func TestControlPlaneSelects(t *testing.T) {
	t.Parallel()

	got, err := ControlPlane("vc-alice", []discoveryv1.EndpointSlice{slice([]int32{6443}, ready("10.0.0.1"))})
	if err != nil {
		t.Fatal(err)
	}

	s, err := metav1.LabelSelectorAsSelector(&got.PodSelector)
	if err != nil {
		t.Fatal(err)
	}

	for name, tc := range map[string]struct {
		labels labels.Set
		want   bool
	}{
		"ControlPlane": {labels.Set{"app": "vcluster", "release": "vc-alice", "kubeopera.io/tenant-name": "alice"}, true},
		"Synced":       {labels.Set{"vcluster.loft.sh/managed-by": "vc-alice"}, false},
		"Disguised":    {labels.Set{"app": "vcluster", "release": "vc-alice", "vcluster.loft.sh/managed-by": "vc-alice"}, false},
		"Etcd":         {labels.Set{"app": "vcluster-etcd", "release": "vc-alice"}, false},
	} {
		if got := s.Matches(tc.labels); got != tc.want {
			t.Errorf("%s: the policy is for it: %t", name, got)
		}
	}

	if diff := cmp.Diff([]networkingv1.PolicyType{networkingv1.PolicyTypeEgress}, got.PolicyTypes); diff != "" || got.Ingress != nil {
		t.Errorf("it is about the way out only: %s", diff)
	}
}
