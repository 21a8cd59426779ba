// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package crash

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
)

// anyAddress is one of this machine that does not look like it: a loopback address
// in a kubeconfig means the pod that wrote it.
const anyAddress = "0.0.0.0"

// gates finds the gate of a call; nil lets it pass.
type gates func(c call) *gate

// proxy serves calls through their gates.
func proxy(to string, of gates, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := readCall(to, r)
		if err != nil {
			panic(http.ErrAbortHandler) // Its caller is dead.
		}

		if g := of(c); g != nil && !c.watches() {
			g.serve(w, r, c, h)
			return
		}

		h.ServeHTTP(w, r)
	})
}

// serve the handler on a port of its own until the test ends. It is the URL.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()

	s := httptest.NewServer(h)
	t.Cleanup(s.Close)

	return s.URL
}

// identity is a certificate of this machine.
type identity struct {
	pair tls.Certificate
	ca   []byte
}

func newIdentity(t *testing.T) identity {
	t.Helper()

	ca, key, err := cert.GenerateSelfSignedCertKey(anyAddress, []net.IP{net.ParseIP(anyAddress), net.ParseIP("127.0.0.1")}, nil)
	if err != nil {
		t.Fatalf("cannot make a certificate: %v", err)
	}

	pair, err := tls.X509KeyPair(ca, key)
	if err != nil {
		t.Fatalf("cannot use a certificate: %v", err)
	}

	return identity{pair: pair, ca: ca}
}

// serveTLS serves the handler, and returns the kubeconfig for it.
func (i identity) serveTLS(t *testing.T, h http.Handler, as *rest.Config) []byte {
	t.Helper()

	l, err := net.Listen("tcp", anyAddress+":0")
	if err != nil {
		t.Fatalf("cannot listen: %v", err)
	}

	s := httptest.NewUnstartedServer(h)
	_ = s.Listener.Close()
	s.Listener = l
	s.TLS = &tls.Config{Certificates: []tls.Certificate{i.pair}, MinVersion: tls.VersionTLS12}
	// Calls end in the middle here.
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)

	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatalf("cannot tell the port: %v", err)
	}

	raw, err := clientcmd.Write(clientcmdapi.Config{
		CurrentContext: "x",
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "x", AuthInfo: "x"}},
		Clusters:       map[string]*clientcmdapi.Cluster{"x": {Server: "https://" + net.JoinHostPort(anyAddress, port), CertificateAuthorityData: i.ca}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"x": {ClientCertificateData: as.CertData, ClientKeyData: as.KeyData}},
	})
	if err != nil {
		t.Fatalf("cannot write a kubeconfig: %v", err)
	}

	return raw
}

// forward passes requests on to the API server.
func forward(t *testing.T, to *rest.Config) http.Handler {
	t.Helper()

	transport, err := rest.TransportFor(to)
	if err != nil {
		t.Fatalf("cannot reach an API server: %v", err)
	}

	u, _, err := rest.DefaultServerUrlFor(to)
	if err != nil {
		t.Fatalf("cannot understand the address of an API server: %v", err)
	}

	return forwardTo(u, transport)
}

func forwardTo(u *url.URL, transport http.RoundTripper) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(u) },
		Transport:     transport,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
	}
}
