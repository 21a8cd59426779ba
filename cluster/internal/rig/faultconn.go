// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
)

// reset closes the connection that a request came by, in the rudest way.
func reset(r *http.Request) {
	c, ok := r.Context().Value(connectionKey{}).(*tls.Conn)
	if !ok {
		return
	}

	if t, ok := c.NetConn().(*net.TCPConn); ok {
		_ = t.SetLinger(0) // Without it the connection ends in order.
	}

	_ = c.NetConn().Close()
}

// keyPair is the configuration of a server with that certificate, in PEM.
func keyPair(cert, key []byte) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("cannot use the certificate: %w", err)
	}

	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// nowhere is for a server whose connections are cut on purpose.
func nowhere() *log.Logger { return log.New(io.Discard, "", 0) }
