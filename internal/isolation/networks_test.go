// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// specialPurpose are all entries of IANA's two registries of special-purpose addresses
// that are not globally reachable, each as it stands there, and multicast.
var specialPurpose = []string{
	"0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.0.0/29",
	"192.0.0.8/32", "192.0.0.170/32", "192.0.0.171/32", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4", "255.255.255.255/32", "224.0.0.0/4",
	"::1/128", "::/128", "::ffff:0:0/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001::/32", "2001:2::/48", "2001:db8::/32",
	"2001:10::/28", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "ff00::/8",
	// Of no registry any more, or not yet.
	"fec0::/10", "4000::/3",
}

// blocks are the networks of publicNetworks, with those that are not of each.
func blocks(t *testing.T) map[netip.Prefix][]netip.Prefix {
	t.Helper()

	out := map[netip.Prefix][]netip.Prefix{}
	for _, p := range publicNetworks() {
		out[netip.MustParsePrefix(p.IPBlock.CIDR)] = parse(p.IPBlock.Except)
	}

	return out
}

// TestNothingPrivateIsPublic holds that each special network is in none of the public
// ones, or is an exception of it as a whole.
func TestNothingPrivateIsPublic(t *testing.T) {
	t.Parallel()

	nat64 := translated(parse(slices.DeleteFunc(slices.Clone(specialPurpose), func(n string) bool { return netip.MustParsePrefix(n).Addr().Is6() })))

	for _, special := range append(parse(specialPurpose), nat64...) {
		for public, except := range blocks(t) {
			within := func(n netip.Prefix) bool { return n.Bits() <= special.Bits() && n.Contains(special.Addr()) }
			if public.Overlaps(special) && !slices.ContainsFunc(except, within) {
				t.Errorf("%s is among the public addresses, as a part of %s", special, public)
			}
		}
	}
}

// TestPublicAddresses holds the internet to be reachable, and what only looks like it not.
func TestPublicAddresses(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		want   bool
	}{
		"1.1.1.1": {"", true}, "9.255.255.255": {"the last before private use", true}, "11.0.0.0": {"the first after", true}, "172.32.0.1": {"the same", true},
		"192.31.196.1": {"special, and globally reachable", true}, "223.255.255.255": {"the last before multicast", true},
		"2606:4700::1111": {"", true}, "64:ff9b::101:101": {"1.1.1.1 from IPv6 alone", true},
		"10.96.0.1": {"the Services of many clusters", false}, "169.254.169.254": {"the metadata of clouds", false}, "fd00:ec2::254": {"the same", false},
		"100.100.100.200": {"the same", false}, "168.63.129.16": {"the same, at a public address", false},
		"64:ff9b::a60:1": {"10.96.0.1 from IPv6", false}, "64:ff9b::a9fe:a9fe": {"169.254.169.254 from IPv6", false}, "2002:a60:1::1": {"10.96.0.1 by 6to4", false},
		"::ffff:10.96.0.1": {"10.96.0.1 as an address of IPv6", false},
	}
	for address, tc := range cases {
		got := false

		for public, except := range blocks(t) {
			a := netip.MustParseAddr(address)
			got = got || (public.Contains(a) && !slices.ContainsFunc(except, func(n netip.Prefix) bool { return n.Contains(a) }))
		}

		if got != tc.want {
			t.Errorf("%s is public: %t: %s", address, got, tc.reason)
		}
	}
}

// TestDefaultsAreValid holds that an API server takes the blocks, and that they stay as
// they are whenever they are made.
func TestDefaultsAreValid(t *testing.T) {
	t.Parallel()

	if err := Validate(&v1alpha1.Isolation{Egress: Tenant(nil, networkingv1.NetworkPolicySpec{}).Egress, Ingress: Tenant(nil, networkingv1.NetworkPolicySpec{}).Ingress}); err != nil {
		t.Error(err)
	}

	for _, n := range slices.Concat(parse(privateIPv4), parse(privateIPv6)) {
		if n != n.Masked() {
			t.Errorf("%s is not written as the network that it is", n)
		}
	}
}

// TestAPIIsNotPublic holds that the defaults leave out the host's API at a public address,
// in each of its spellings, that only the way out changes, and rules of the platform not
// at all.
func TestAPIIsNotPublic(t *testing.T) {
	t.Parallel()

	of := func(addresses ...string) networkingv1.NetworkPolicySpec {
		p, err := ControlPlane("vc-alice", []discoveryv1.EndpointSlice{slice([]int32{6443}, ready(addresses...))})
		if err != nil {
			t.Fatal(err)
		}

		return p
	}

	without := Tenant(nil, networkingv1.NetworkPolicySpec{})

	for name, tc := range map[string]struct {
		reason string
		api    networkingv1.NetworkPolicySpec
		except []string
	}{
		"Private": {"it is left out already", of("10.0.0.1", "fd00::1"), nil},
		"Public":  {"as it is, and from IPv6", of("9.9.9.9"), []string{"9.9.9.9/32", "64:ff9b::909:909/128"}},
		"IPv6":    {"an address of IPv6", of("2606:4700::1111"), []string{"2606:4700::1111/128"}},
		"Several": {"each of several", of("9.9.9.9", "9.9.9.10"), []string{"9.9.9.9/32", "9.9.9.10/32", "64:ff9b::909:909/128", "64:ff9b::909:90a/128"}},
		"Changed": {"what others wrote closes nothing", networkingv1.NetworkPolicySpec{Egress: []egressRule{{}, to(nil, "0.0.0.0/0", "x"), {To: ownPods}}}, nil},
	} {
		got := Tenant(nil, tc.api)

		if diff := cmp.Diff(without.Ingress, got.Ingress); diff != "" {
			t.Errorf("%s: the way in changed: %s", name, diff)
		}

		var added []string

		for i, p := range got.Egress[2].To {
			for _, e := range p.IPBlock.Except {
				if !slices.Contains(without.Egress[2].To[i].IPBlock.Except, e) {
					added = append(added, e)
				}
			}
		}

		slices.Sort(added)
		slices.Sort(tc.except)

		if diff := cmp.Diff(tc.except, added); diff != "" {
			t.Errorf("%s: %s: -want, +got:\n%s", name, tc.reason, diff)
		}

		if err := Validate(&v1alpha1.Isolation{Egress: got.Egress}); err != nil {
			t.Errorf("%s: %v", name, err)
		}

		own := &v1alpha1.Isolation{Egress: []egressRule{to(nil, "0.0.0.0/0")}}
		if diff := cmp.Diff(Tenant(own, networkingv1.NetworkPolicySpec{}), Tenant(own, tc.api)); diff != "" {
			t.Errorf("%s: the platform's own rules changed: %s", name, diff)
		}
	}
}
