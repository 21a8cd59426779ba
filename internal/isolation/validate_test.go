// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

func cidr(network string, except ...string) peer {
	return peer{IPBlock: &networkingv1.IPBlock{CIDR: network, Except: except}}
}

func labelled(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

func toPeer(p peer) egressRule { return egressRule{To: []peer{p}} }
func toPort(p port) egressRule { return egressRule{Ports: []port{p}} }

func number(n int32) *intstr.IntOrString { return ptr.To(intstr.FromInt32(n)) }
func named(s string) *intstr.IntOrString { return ptr.To(intstr.FromString(s)) }

// ruleCases are rules, and what is wrong with them: the field and words of the remedy.
func ruleCases() map[string]struct {
	rule egressRule
	errs []string
} {
	type tc = struct {
		rule egressRule
		errs []string
	}

	return map[string]tc{
		"Everything": {egressRule{}, nil},
		"Network":    {toPeer(cidr("10.0.0.0/8", "10.1.0.0/16", "10.2.3.4/32")), nil},
		"IPv6":       {toPeer(cidr("fd00::/8", "fd00:1::/32")), nil},
		"Namespace":  {toPeer(peer{NamespaceSelector: labelled("kubernetes.io/metadata.name", "kubeopera-system")}), nil},
		"Pod":        {toPeer(peer{PodSelector: labelled("app", "x")}), nil},
		"Both":       {toPeer(peer{PodSelector: labelled("app", "x"), NamespaceSelector: &metav1.LabelSelector{}}), nil},
		"Port":       {toPort(port{Port: number(443)}), nil},
		"Range":      {toPort(port{Protocol: ptr.To(corev1.ProtocolUDP), Port: number(30000), EndPort: ptr.To[int32](32767)}), nil},
		"NamedPort":  {toPort(port{Port: named("https")}), nil},
		"Protocol":   {toPort(port{Protocol: ptr.To(corev1.ProtocolSCTP)}), nil},

		"Word":          {toPeer(cidr("database")), []string{"to[0].ipBlock.cidr", `"database"`, "must be a valid CIDR"}},
		"Address":       {toPeer(cidr("10.1.2.3")), []string{"to[0].ipBlock.cidr", "must be a valid CIDR"}},
		"NoNetwork":     {toPeer(cidr("")), []string{"to[0].ipBlock.cidr"}},
		"Bits":          {toPeer(cidr("10.0.0.0/33")), []string{"to[0].ipBlock.cidr", `"10.0.0.0/33"`}},
		"Except":        {toPeer(cidr("10.0.0.0/8", "10.1.0.0/16", "x")), []string{"to[0].ipBlock.except[1]", `"x"`}},
		"ExceptOutside": {toPeer(cidr("10.0.0.0/8", "11.0.0.0/16")), []string{"to[0].ipBlock.except[0]", `must be a part of cidr "10.0.0.0/8"`}},
		"ExceptAll":     {toPeer(cidr("10.0.0.0/8", "10.0.0.0/8")), []string{"to[0].ipBlock.except[0]", "must be a part"}},
		"ExceptOther":   {toPeer(cidr("10.0.0.0/8", "fd00::/16")), []string{"to[0].ipBlock.except[0]", "must be a part"}},
		"NoPeer":        {toPeer(peer{}), []string{"to[0]", "must have a podSelector, a namespaceSelector or an ipBlock"}},
		"TwoPeers":      {toPeer(peer{IPBlock: cidr("10.0.0.0/8").IPBlock, PodSelector: &metav1.LabelSelector{}}), []string{"to[0]", "both an ipBlock and a selector"}},
		"Label":         {toPeer(peer{PodSelector: labelled("app", "no label!")}), []string{"to[0].podSelector.matchLabels", "valid label"}},
		"Key":           {toPeer(peer{NamespaceSelector: labelled("no key!", "x")}), []string{"to[0].namespaceSelector.matchLabels"}},
		"Operator": {toPeer(peer{NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Is"}}}}),
			[]string{"to[0].namespaceSelector.matchExpressions[0].operator"}},
		"NoPort":       {toPort(port{Port: number(0)}), []string{"ports[0].port", "between 1 and 65535"}},
		"HighPort":     {toPort(port{Port: number(65536)}), []string{"ports[0].port", "between 1 and 65535"}},
		"PortName":     {toPort(port{Port: named("Not A Port")}), []string{"ports[0].port", `"Not A Port"`}},
		"OtherWay":     {toPort(port{Protocol: ptr.To[corev1.Protocol]("ICMP")}), []string{"ports[0].protocol", `"TCP"`}},
		"EndFirst":     {toPort(port{Port: number(443), EndPort: ptr.To[int32](80)}), []string{"ports[0].endPort", "must not be less than port"}},
		"HighEnd":      {toPort(port{Port: number(443), EndPort: ptr.To[int32](65536)}), []string{"ports[0].endPort", "between 1 and 65535"}},
		"EndAlone":     {toPort(port{EndPort: ptr.To[int32](80)}), []string{"ports[0].endPort", "needs port to be a number"}},
		"EndOfAName":   {toPort(port{Port: named("https"), EndPort: ptr.To[int32](80)}), []string{"ports[0].endPort", "needs port to be a number"}},
		"SecondOfMany": {egressRule{To: []peer{cidr("10.0.0.0/8"), cidr("x")}}, []string{"to[1].ipBlock.cidr"}},
	}
}

// TestValidate holds that each rule is told of by its field, whichever way it leads.
func TestValidate(t *testing.T) {
	t.Parallel()

	for name, tc := range ruleCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for field, of := range map[string]*v1alpha1.Isolation{
				"isolation.egress[1].":  {Egress: []egressRule{{}, tc.rule}},
				"isolation.ingress[1].": {Ingress: []ingressRule{{}, {From: tc.rule.To, Ports: tc.rule.Ports}}},
			} {
				err := Validate(of)
				if (err == nil) != (len(tc.errs) == 0) {
					t.Fatalf("got error %v", err)
				}

				for i, want := range tc.errs {
					if i == 0 {
						want = field + want
					}

					if field == "isolation.ingress[1]." {
						want = strings.Replace(want, ".to[", ".from[", 1)
					}

					if !strings.Contains(err.Error(), want) {
						t.Errorf("want %q in %v", want, err)
					}
				}
			}
		})
	}

	if err := Validate(nil); err != nil {
		t.Errorf("nothing is wrong with the defaults: %v", err)
	}

	many := make([]egressRule, 40)
	for i := range many {
		many[i] = toPeer(peer{})
	}

	if err := Validate(&v1alpha1.Isolation{Egress: many}); err == nil || !strings.HasSuffix(err.Error(), ", and 39 more") || strings.Contains(err.Error(), "egress[1]") {
		t.Errorf("of many errors one is told: %v", err)
	}
}
