// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package tenantapi

import (
	"crypto/tls"
	"net/http/httptrace"
	"testing"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubeopera/provider-kubeopera/internal/testenv"
)

// TestAPIServerResumes holds that a real API server resumes sessions, and knows the user of
// one.
func TestAPIServerResumes(t *testing.T) {
	t.Parallel()

	admin := testenv.RunControlPlane(t)
	a := get(t, NewPool(), "one", writeKubeconfig(t,
		clientcmdapi.Cluster{Server: admin.Host, CertificateAuthorityData: admin.CAData},
		clientcmdapi.AuthInfo{ClientCertificateData: admin.CertData, ClientKeyData: admin.KeyData}))
	a.transport.DisableKeepAlives = true

	for _, want := range []bool{false, true, true} {
		handshakes := make(chan tls.ConnectionState, 1)
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			TLSHandshakeDone: func(s tls.ConnectionState, _ error) { handshakes <- s },
		})

		if err := a.Probe(ctx); err != nil {
			t.Fatal(err)
		}

		if got := within(t, handshakes, "a handshake"); got.DidResume != want || got.Version != tls.VersionTLS13 {
			t.Errorf("resumed is %t, want %t; %s", got.DidResume, want, tls.VersionName(got.Version))
		}
	}
}
