// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantapi

import (
	"bytes"
	"crypto/tls"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// TestConnection holds that all that is asked of an API one after the other goes by one
// connection, with the client's certificate, and that it is closed with the clients.
func TestConnection(t *testing.T) {
	t.Parallel()

	inner, states, certs := newServer(t), make(chan http.ConnState, 100), make(chan []byte, 100)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		certs <- r.TLS.PeerCertificates[0].Raw

		r.Header.Set("Authorization", "Bearer good")
		inner.Config.Handler.ServeHTTP(w, r)
	}))
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew || state == http.StateClosed {
			states <- state
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)

	p, user := NewPool(), withKey(t, year)
	a := get(t, p, "one", writeKubeconfig(t, clusterOf(s), user))
	cert, _ := pem.Decode(user.ClientCertificateData)

	for range 3 {
		if err := a.Probe(t.Context()); err != nil {
			t.Fatal(err)
		}

		if got := within(t, certs, "a request"); !bytes.Equal(got, cert.Bytes) {
			t.Error("it was asked with another certificate")
		}
	}

	p.Drop("one")

	for _, want := range []http.ConnState{http.StateNew, http.StateClosed} {
		if got := within(t, states, "a change of the connection"); got != want {
			t.Fatalf("want a connection that is %s, got %s", want, got)
		}
	}
}

// TestConnections holds that what is asked of an API at once goes by a bounded number of
// connections, which are used again.
func TestConnections(t *testing.T) {
	t.Parallel()

	inner, opened := newServer(t), atomic.Int32{}
	arrived, answer := make(chan struct{}, 100), make(chan struct{})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-answer
		inner.Config.Handler.ServeHTTP(w, r)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)

	a := get(t, NewPool(), "one", kubeconfig(t, s, "good"))

	var all sync.WaitGroup
	for range 5 * maxConns {
		all.Go(func() {
			if err := a.Probe(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}

	for range maxConns {
		within(t, arrived, "a request")
	}

	close(answer)
	all.Wait()

	if n := opened.Load(); n != maxConns {
		t.Errorf("%d connections were opened, want %d", n, maxConns)
	}
}
