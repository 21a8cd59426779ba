// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package isolation

import (
	"net/netip"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
)

// Networks that hold all public addresses, besides others.
const (
	allIPv4 = "0.0.0.0/0"
	// globalUnicast is the only network of IPv6 that IANA hands out public addresses of,
	// see https://www.iana.org/assignments/ipv6-address-space/.
	globalUnicast = "2000::/3"
	// nat64 is IPv4 as it is seen from IPv6, RFC 6052.
	nat64 = "64:ff9b::/96"
)

// privateIPv4 are the networks that are not public. They are those of
// https://www.iana.org/assignments/iana-ipv4-special-registry/ that are not globally
// reachable, or not any more, and multicast; the exceptions within 192.0.0.0/24 are
// not made. Larger ones hold smaller ones.
var privateIPv4 = []string{
	"0.0.0.0/8",       // this network, RFC 791
	"10.0.0.0/8",      // private use, RFC 1918
	"100.64.0.0/10",   // shared by a provider and its customers, RFC 6598
	"127.0.0.0/8",     // loopback, RFC 1122
	"169.254.0.0/16",  // link-local, RFC 3927, and the metadata of cloud providers
	"172.16.0.0/12",   // private use, RFC 1918
	"192.0.0.0/24",    // IETF protocols, RFC 6890
	"192.0.2.0/24",    // documentation, RFC 5737
	"192.88.99.0/24",  // 6to4 relays, deprecated by RFC 7526
	"192.168.0.0/16",  // private use, RFC 1918
	"198.18.0.0/15",   // benchmarks, RFC 2544
	"198.51.100.0/24", // documentation, RFC 5737
	"203.0.113.0/24",  // documentation, RFC 5737
	"224.0.0.0/4",     // multicast, RFC 5771
	"240.0.0.0/4",     // reserved, with the limited broadcast, RFC 1112 and RFC 919
	// Of no registry: at this public address the nodes of Azure get their configuration.
	"168.63.129.16/32",
}

// privateIPv6 are the same within globalUnicast, by
// https://www.iana.org/assignments/iana-ipv6-special-registry/. All others, such as
// fc00::/7 and fe80::/10, lie outside of it.
var privateIPv6 = []string{
	"2001::/23",     // IETF protocols, RFC 2928, with Teredo, benchmarks and ORCHID
	"2001:db8::/32", // documentation, RFC 3849
	"2002::/16",     // 6to4, RFC 3056: it holds private IPv4
	"3fff::/20",     // documentation, RFC 9637
}

// publicNetworks are all addresses of the internet without these networks. Those of the
// host cluster's pods, nodes and Services are none of them, unless they are public.
func publicNetworks(without ...netip.Prefix) []networkingv1.NetworkPolicyPeer {
	v4, v6 := parse(privateIPv4), parse(privateIPv6)
	public6 := netip.MustParsePrefix(globalUnicast)

	for _, n := range without {
		switch within := func(o netip.Prefix) bool { return o.Overlaps(n) }; {
		case n.Addr().Is4() && !slices.ContainsFunc(v4, within):
			v4 = append(v4, n)
		case public6.Overlaps(n) && !slices.ContainsFunc(v6, within):
			v6 = append(v6, n)
		}
	}

	return []networkingv1.NetworkPolicyPeer{
		block(netip.MustParsePrefix(allIPv4), v4...),
		block(public6, v6...),
		block(netip.MustParsePrefix(nat64), translated(v4)...),
	}
}

// networksOf are those that a policy leads to.
func networksOf(p networkingv1.NetworkPolicySpec) []netip.Prefix {
	var out []netip.Prefix

	for _, r := range p.Egress {
		for _, to := range r.To {
			if to.IPBlock == nil {
				continue
			}

			// A policy that is kept may have been changed by others, to what is no address.
			if n, err := netip.ParsePrefix(to.IPBlock.CIDR); err == nil && n.IsSingleIP() {
				out = append(out, n)
			}
		}
	}

	return out
}

func parse(networks []string) []netip.Prefix {
	out := make([]netip.Prefix, len(networks))
	for i, n := range networks {
		out[i] = netip.MustParsePrefix(n)
	}

	return out
}

// translated are networks of IPv4 as they are seen from IPv6.
func translated(networks []netip.Prefix) []netip.Prefix {
	in := netip.MustParsePrefix(nat64)
	out := make([]netip.Prefix, len(networks))

	for i, n := range networks {
		a, v4 := in.Addr().As16(), n.Addr().As4()
		copy(a[in.Bits()/8:], v4[:])
		out[i] = netip.PrefixFrom(netip.AddrFrom16(a), in.Bits()+n.Bits())
	}

	return out
}

// block is a network without some networks in it.
func block(n netip.Prefix, except ...netip.Prefix) networkingv1.NetworkPolicyPeer {
	out := &networkingv1.IPBlock{CIDR: n.String()}
	for _, e := range slices.SortedFunc(slices.Values(except), netip.Prefix.Compare) {
		out.Except = append(out.Except, e.String())
	}

	return networkingv1.NetworkPolicyPeer{IPBlock: out}
}
