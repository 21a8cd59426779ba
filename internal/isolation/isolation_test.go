// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

type (
	peer        = networkingv1.NetworkPolicyPeer
	port        = networkingv1.NetworkPolicyPort
	egressRule  = networkingv1.NetworkPolicyEgressRule
	ingressRule = networkingv1.NetworkPolicyIngressRule
)

var (
	ownPods  = []peer{{PodSelector: &metav1.LabelSelector{}}}
	database = []peer{{IPBlock: &networkingv1.IPBlock{CIDR: "10.1.2.0/24"}}}
)

func TestPodSecurity(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		reason string
		of     *v1alpha1.Isolation
		want   string
	}{
		"Unset":      {"baseline is the default", nil, "baseline"},
		"Empty":      {"also of what no API server has filled in", &v1alpha1.Isolation{}, "baseline"},
		"Restricted": {"the platform may ask for more", &v1alpha1.Isolation{PodSecurity: v1alpha1.PodSecurityRestricted}, "restricted"},
		"Privileged": {"or for none", &v1alpha1.Isolation{PodSecurity: v1alpha1.PodSecurityPrivileged}, "privileged"},
	} {
		want := map[string]string{"pod-security.kubernetes.io/enforce": tc.want, "pod-security.kubernetes.io/enforce-version": "latest"}
		if diff := cmp.Diff(want, PodSecurity(tc.of)); diff != "" {
			t.Errorf("%s: %s: -want, +got:\n%s", name, tc.reason, diff)
		}
	}
}

func TestTenant(t *testing.T) {
	t.Parallel()

	udp, tcp := corev1.ProtocolUDP, corev1.ProtocolTCP
	dns := egressRule{
		To:    []peer{{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "kube-system"}}}},
		Ports: []port{{Protocol: &udp, Port: ptr.To(intstr.FromInt32(53))}, {Protocol: &tcp, Port: ptr.To(intstr.FromInt32(53))}},
	}
	nobodys := peer{NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "kubeopera.io/tenant-uid", Operator: metav1.LabelSelectorOpDoesNotExist},
	}}}

	type want struct {
		ingress []ingressRule
		egress  []egressRule
	}

	byDefault := want{
		[]ingressRule{{From: ownPods}, {From: append([]peer{nobodys}, publicNetworks()...)}},
		[]egressRule{{To: ownPods}, dns, {To: publicNetworks()}},
	}

	cases := map[string]struct {
		reason string
		of     *v1alpha1.Isolation
		want   want
	}{
		"Unset": {"the defaults", nil, byDefault},
		"Empty": {"a level alone leaves the rules", &v1alpha1.Isolation{PodSecurity: v1alpha1.PodSecurityRestricted}, byDefault},
		"None": {
			"empty lists leave what a CloudSpace cannot do without", &v1alpha1.Isolation{Egress: []egressRule{}, Ingress: []ingressRule{}},
			want{[]ingressRule{{From: ownPods}}, []egressRule{{To: ownPods}, dns}},
		},
		"Egress": {
			"rules replace the public networks, in the form in which they are stored", &v1alpha1.Isolation{Egress: []egressRule{{To: database, Ports: []port{{Port: ptr.To(intstr.FromInt32(5432))}}}}},
			want{byDefault.ingress, []egressRule{{To: ownPods}, dns, {To: database, Ports: []port{{Protocol: &tcp, Port: ptr.To(intstr.FromInt32(5432))}}}}},
		},
		"Ingress": {
			"and so they do of those who come in", &v1alpha1.Isolation{Ingress: []ingressRule{{From: database, Ports: []port{{Protocol: &udp}, {}}}}},
			want{[]ingressRule{{From: ownPods}, {From: database, Ports: []port{{Protocol: &udp}, {Protocol: &tcp}}}}, byDefault.egress},
		},
		"Everything": {
			"a rule without peers is one for all", &v1alpha1.Isolation{Egress: []egressRule{{}}, Ingress: []ingressRule{{}}},
			want{[]ingressRule{{From: ownPods}, {}}, []egressRule{{To: ownPods}, dns, {}}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			before := tc.of.DeepCopy()
			got := Tenant(tc.of, networkingv1.NetworkPolicySpec{})

			if diff := cmp.Diff(networkingv1.NetworkPolicySpec{
				PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
				Ingress:     tc.want.ingress, Egress: tc.want.egress,
			}, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(before, tc.of); diff != "" {
				t.Errorf("%s: what was given has changed: %s", tc.reason, diff)
			}
		})
	}
}

// TestOtherTenants holds that no rule of the defaults selects another Tenant's pods by
// the labels of their namespace.
func TestOtherTenants(t *testing.T) {
	t.Parallel()

	spec := Tenant(nil, networkingv1.NetworkPolicySpec{})

	var peers []peer
	for _, r := range spec.Ingress {
		peers = append(peers, r.From...)
	}

	for _, r := range spec.Egress {
		peers = append(peers, r.To...)
	}

	tenants := labels.Set{"kubeopera.io/tenant-uid": "uid-bob", "kubernetes.io/metadata.name": "vcluster-bob", "kubeopera.io/managed-by": "tenant-controller"}
	selectors := 0

	for _, p := range peers {
		if p.NamespaceSelector == nil {
			continue
		}

		selectors++

		s, err := metav1.LabelSelectorAsSelector(p.NamespaceSelector)
		if err != nil {
			t.Fatal(err)
		}

		if s.Matches(tenants) {
			t.Errorf("%v selects a Tenant's namespace", p.NamespaceSelector)
		}

		if !s.Matches(labels.Set{"kubernetes.io/metadata.name": "kube-system"}) {
			t.Errorf("%v selects neither DNS nor those who may come in", p.NamespaceSelector)
		}
	}

	if selectors != 2 {
		t.Errorf("%d rules go by namespaces, want one for DNS and one for those who may come in", selectors)
	}
}
