// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"crypto/x509"
	"errors"
	"net"
	"testing"
)

func TestCoversHost(t *testing.T) {
	t.Parallel()

	// What vCluster puts into a certificate by itself.
	made := &x509.Certificate{
		DNSNames:    []string{"vc-alice", "vc-alice.vcluster-alice", "localhost", "*.nodes.vcluster.com"},
		IPAddresses: []net.IP{net.IPv4(10, 96, 0, 7), net.ParseIP("fd00::7")},
	}

	cases := map[string]struct {
		reason string
		cert   *x509.Certificate
		host   string
		words  []string
	}{
		"name":          {"in the list", made, "vc-alice.vcluster-alice", nil},
		"letter case":   {"DNS does not tell apart", made, "LOCALHOST", nil},
		"address":       {"in the list", made, "10.96.0.7", nil},
		"IPv6":          {"in the list", made, "fd00::7", nil},
		"wildcard":      {"covers one label", made, "a.nodes.vcluster.com", nil},
		"service":       {"the name that vCluster leaves out", made, "vc-alice.vcluster-alice.svc", []string{`"vc-alice.vcluster-alice.svc"`, `"vc-alice.vcluster-alice"`, `"10.96.0.7"`, "extraSANs"}},
		"other address": {"not in the list", made, "10.96.0.8", []string{`"10.96.0.8"`, `"10.96.0.7"`}},
		"port":          {"a host has none", made, "localhost:8443", []string{`"localhost:8443"`}},
		"empty":         {"no name is no name", made, "", []string{`""`}},
		"no names":      {"an old kind of certificate", &x509.Certificate{}, "localhost", []string{"no name at all"}},
		"none":          {"nothing was shown", nil, "localhost", []string{`"localhost"`, "no certificate"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := CoversHost(tc.cert, tc.host)
			if tc.words == nil {
				if err != nil {
					t.Errorf("%s: %v", tc.reason, err)
				}

				return
			}

			if !errors.Is(err, ErrHostNotCovered) {
				t.Fatalf("%s: want %v, got %v", tc.reason, ErrHostNotCovered, err)
			}

			wantWords(t, err, tc.words...)
		})
	}
}
