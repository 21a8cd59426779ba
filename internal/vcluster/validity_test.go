// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"slices"
	"testing"
	"time"
)

func TestClientCertValidity(t *testing.T) {
	t.Parallel()

	ca, user := newPair(t, "ca"), newPair(t, "admin")

	withToken := exported(ca, user)
	withToken.AuthInfos["my-vcluster"].ClientCertificateData = nil
	withToken.AuthInfos["my-vcluster"].ClientKeyData = nil
	withToken.AuthInfos["my-vcluster"].Token = "token"

	sooner := newPairUntil(t, "intermediate", notAfter.AddDate(0, -1, 0))
	chain := exported(ca, user)
	chain.AuthInfos["my-vcluster"].ClientCertificateData = slices.Concat(user.cert, sooner.cert)

	cases := map[string]struct {
		reason   string
		data     []byte
		from, to time.Time
	}{
		"Certificate": {"the time of the one there is", encode(t, exported(ca, user)), notAfter.AddDate(-1, 0, 0), notAfter},
		"Chain":       {"the first to end counts", encode(t, chain), notAfter.AddDate(-1, -1, 0), notAfter.AddDate(0, -1, 0)},
		"Token":       {"a token says nothing", encode(t, withToken), time.Time{}, time.Time{}},
	}
	for name, tc := range cases {
		from, to := mustParse(t, tc.data).ClientCertValidity()
		if !from.Equal(tc.from) || !to.Equal(tc.to) {
			t.Errorf("%s: %s: from %s to %s", name, tc.reason, from, to)
		}
	}
}
