// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	certutil "k8s.io/client-go/util/cert"
)

const (
	// headerLimit bounds how long a client may take to send a header.
	headerLimit = 10 * time.Second
	// listenLimit is how long another may have the port that is to be listened on.
	listenLimit = 30 * time.Second
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

// tls is the configuration of a server with that certificate.
func (i Identity) tls() (*tls.Config, error) {
	pair, err := tls.X509KeyPair(i.Cert, i.Key)
	if err != nil {
		return nil, fmt.Errorf("cannot use the certificate: %w", err)
	}

	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// Server serves a handler on a port of its own.
type Server struct {
	// URL of it.
	URL string

	address string // with the port
	server  *http.Server
	ended   chan struct{} // closed when the server has ended
}

// Serve the handler at this machine only, until it is closed.
func Serve(ctx context.Context, h http.Handler) (*Server, error) {
	return serve(ctx, "127.0.0.1:0", &http.Server{Handler: h}) //nolint:gosec // serve bounds the header.
}

// ServeTLS does so by TLS, at AnyAddress.
func (i Identity) ServeTLS(ctx context.Context, h http.Handler) (*Server, error) {
	config, err := i.tls()
	if err != nil {
		return nil, err
	}
	// As an API server does. Whose the certificate is does not matter here.
	config.ClientAuth = tls.RequestClientCert

	return serve(ctx, AnyAddress+":0", &http.Server{Handler: h, TLSConfig: config}) //nolint:gosec // serve bounds the header.
}

// serve at the address, with TLS if the server is configured for it. Port 0 stands for
// any that is free.
func serve(ctx context.Context, address string, s *http.Server) (*Server, error) {
	l, err := listen(ctx, address)
	if err != nil {
		return nil, err
	}

	s.ReadHeaderTimeout = headerLimit
	// Calls may end in the middle here.
	s.ErrorLog = nowhere()
	out := &Server{address: l.Addr().String(), server: s, ended: make(chan struct{})}
	out.URL = "http://" + out.address
	run := func() error { return s.Serve(l) }

	if s.TLSConfig != nil {
		out.URL = "https://" + out.address
		run = func() error { return s.ServeTLS(l, "", "") }
	}

	go func() {
		defer close(out.ended)

		_ = run() // It ends with Close only.
	}()

	return out, nil
}

// listen at the address, as soon as nobody else has its port.
func listen(ctx context.Context, address string) (net.Listener, error) {
	var (
		l    net.Listener
		last error
	)

	err := wait.PollUntilContextTimeout(ctx, pollInterval, listenLimit, true, func(ctx context.Context) (bool, error) {
		// TCP of version 4, in which the address is what it is.
		l, last = (&net.ListenConfig{}).Listen(ctx, "tcp4", address)

		return !errors.Is(last, syscall.EADDRINUSE), nil
	})
	if err = cmp.Or(last, err); err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}

	return l, nil
}

// nowhere is for a server whose connections are cut on purpose.
func nowhere() *log.Logger { return log.New(io.Discard, "", 0) }

// Close cuts all connections. The port is free then.
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
