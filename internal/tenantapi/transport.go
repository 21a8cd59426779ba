// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantapi

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

const (
	// dialTimeout, handshakeTimeout and keepAlive are those of client-go.
	dialTimeout      = 30 * time.Second
	handshakeTimeout = 10 * time.Second
	keepAlive        = 30 * time.Second
	// idleTimeout lets one pass, and those that follow at once, share a connection. It is
	// far shorter than a poll: an open connection holds ten times as much as a session.
	idleTimeout = 10 * time.Second
	// bufferSize is enough for the header of nearly every request and answer.
	bufferSize = 1 << 10
	// maxConns bounds the connections to one API, of which each watch takes one: three at
	// most, for the news of CoreDNS, Flux and the App Advisor.
	maxConns = 6
)

// newTransport connects to the API of cfg as client-go would, but holds little memory, as
// there is one for each Tenant: it speaks HTTP/1.1, has small buffers, closes connections
// soon and resumes their session, and decodes the certificate when a handshake asks for it.
func newTransport(cfg *rest.Config) (*http.Transport, error) {
	trust, err := rest.TLSConfigFor(&rest.Config{TLSClientConfig: rest.TLSClientConfig{ServerName: cfg.ServerName, CAData: cfg.CAData}})
	if err != nil {
		return nil, fmt.Errorf("cannot trust the tenant's API: %w", err)
	}

	trust.ClientSessionCache = &session{}

	if cert, key := cfg.CertData, cfg.KeyData; len(cert) > 0 {
		trust.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.X509KeyPair(cert, key)
			return &pair, err //nolint:wrapcheck // The handshake says what it is about.
		}
	}

	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: dialTimeout, KeepAlive: keepAlive}).DialContext,
		TLSClientConfig:     trust,
		TLSHandshakeTimeout: handshakeTimeout,
		MaxConnsPerHost:     maxConns,
		MaxIdleConnsPerHost: maxConns,
		IdleConnTimeout:     idleTimeout,
		ReadBufferSize:      bufferSize,
		WriteBufferSize:     bufferSize,
	}, nil
}
