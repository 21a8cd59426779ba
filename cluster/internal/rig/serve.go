// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	certutil "k8s.io/client-go/util/cert"
)

// AnyAddress is one of this machine that does not look like it: a loopback address
// in a kubeconfig means the pod that wrote it.
const AnyAddress = "0.0.0.0"

// Identity is a certificate of this machine that is good for a year, and its own
// authority.
type Identity struct{ Cert, Key []byte }

// NewIdentity makes one.
func NewIdentity() (Identity, error) {
	cert, key, err := certutil.GenerateSelfSignedCertKey(AnyAddress, []net.IP{net.ParseIP(AnyAddress), net.ParseIP("127.0.0.1")}, nil)
	if err != nil {
		return Identity{}, fmt.Errorf("cannot make a certificate: %w", err)
	}

	return Identity{Cert: cert, Key: key}, nil
}

// Server serves a handler on a port of its own.
type Server struct {
	// URL of it.
	URL string

	server *http.Server
	ended  chan struct{} // closed when the server has ended
}

// Serve the handler at this machine only, until it is closed.
func Serve(ctx context.Context, h http.Handler) (*Server, error) {
	return serve(ctx, "127.0.0.1:0", &http.Server{Handler: h}) //nolint:gosec // serve bounds the header.
}

// ServeTLS does so by TLS, at AnyAddress.
func (i Identity) ServeTLS(ctx context.Context, h http.Handler) (*Server, error) {
	config, err := keyPair(i.Cert, i.Key)
	if err != nil {
		return nil, err
	}
	// As an API server does. Whose the certificate is does not matter here.
	config.ClientAuth = tls.RequestClientCert

	return serve(ctx, AnyAddress+":0", &http.Server{Handler: h, TLSConfig: config}) //nolint:gosec // serve bounds the header.
}

func serve(ctx context.Context, address string, s *http.Server) (*Server, error) {
	// TCP of version 4, in which the address is what it is.
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}

	s.ReadHeaderTimeout = headerLimit
	// Calls may end in the middle here.
	s.ErrorLog = nowhere()
	out := &Server{URL: "http://" + l.Addr().String(), server: s, ended: make(chan struct{})}
	run := func() error { return s.Serve(l) }

	if s.TLSConfig != nil {
		out.URL = "https://" + l.Addr().String()
		run = func() error { return s.ServeTLS(l, "", "") }
	}

	go func() {
		defer close(out.ended)

		_ = run() // It ends with Close only.
	}()

	return out, nil
}

// Close cuts all connections.
func (s *Server) Close() error {
	err := s.server.Close()
	<-s.ended

	if err != nil {
		return fmt.Errorf("cannot stop a server: %w", err)
	}

	return nil
}

// Kubeconfig for the server at the URL, which the authority vouches for, with a client
// certificate and its key.
func Kubeconfig(server string, authority, cert, key []byte) ([]byte, error) {
	raw, err := clientcmd.Write(clientcmdapi.Config{
		CurrentContext: "x",
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "x", AuthInfo: "x"}},
		Clusters:       map[string]*clientcmdapi.Cluster{"x": {Server: server, CertificateAuthorityData: authority}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"x": {ClientCertificateData: cert, ClientKeyData: key}},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot write a kubeconfig: %w", err)
	}

	return raw, nil
}

// Forward passes requests on to the API server of cfg, with its credentials.
func Forward(cfg *rest.Config) (*httputil.ReverseProxy, error) {
	transport, err := rest.TransportFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot reach an API server: %w", err)
	}

	u, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot understand the address of an API server: %w", err)
	}

	return ForwardTo(u, transport), nil
}

// ForwardTo passes requests on to the URL.
func ForwardTo(u *url.URL, transport http.RoundTripper) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(u) },
		Transport:     transport,
		FlushInterval: -1, // A watch's events are not held back.
		ErrorLog:      nowhere(),
	}
}
