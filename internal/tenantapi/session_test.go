// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	certutil "k8s.io/client-go/util/cert"

	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// year is longer than a test lasts.
const year = 365 * 24 * time.Hour

// certificate of that name that is valid for so long from now on, its key, and the CA that
// signed it.
func certificate(t *testing.T, name string, valid time.Duration) (cert, key, ca []byte) {
	t.Helper()

	// What is made begins to be valid an hour ago.
	chain, key, err := certutil.GenerateSelfSignedCertKeyWithOptions(certutil.SelfSignedCertKeyOptions{Host: name, MaxAge: valid + time.Hour})
	if err != nil {
		t.Fatal(err)
	}

	leaf, ca := pem.Decode(chain)

	return pem.EncodeToMemory(leaf), key, ca
}

// memoryAPI is an API that is reached through memory, so that a test may run in a bubble of
// synctest, where to sleep takes no time.
// It asks for a client's certificate as kube-apiserver does.
type memoryAPI struct {
	ca    []byte
	conns chan net.Conn

	mu           sync.Mutex
	opened, open int
	last         tls.ConnectionState
}

// newMemoryAPI has a certificate that is valid for so long.
func newMemoryAPI(t *testing.T, valid time.Duration) *memoryAPI {
	t.Helper()

	cert, key, ca := certificate(t, "vc", valid)

	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}

	m := &memoryAPI{ca: ca, conns: make(chan net.Conn)}
	s := &http.Server{
		Handler:   m,
		ConnState: m.count,
		ErrorLog:  log.New(io.Discard, "", 0), // Handshakes that fail are meant to.
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12},
	}

	ended := make(chan struct{})
	go func() {
		defer close(ended)

		if err := s.ServeTLS(m, "", ""); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}()

	t.Cleanup(func() {
		_ = s.Close()
		<-ended
	})

	return m
}

func (m *memoryAPI) Accept() (net.Conn, error) {
	c, ok := <-m.conns
	if !ok {
		return nil, net.ErrClosed
	}

	return c, nil
}

func (m *memoryAPI) Close() error {
	close(m.conns)
	return nil
}

func (m *memoryAPI) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

func (m *memoryAPI) dial(context.Context, string, string) (net.Conn, error) {
	near, in := net.Pipe()
	out, far := net.Pipe()

	go relay(in, out)
	go relay(out, in)

	m.conns <- far

	return near, nil
}

// relay has both ends of a connection write at the same time, as a pipe has no buffer.
func relay(to io.WriteCloser, from io.Reader) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
}

func (m *memoryAPI) count(_ net.Conn, state http.ConnState) {
	m.mu.Lock()
	defer m.mu.Unlock()

	switch state {
	case http.StateNew:
		m.opened++
		m.open++
	case http.StateClosed:
		m.open--
	default:
	}
}

func (m *memoryAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.last = *r.TLS

	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}}`)
}

// seen is how many connections were opened, how many still are, and the last that asked.
func (m *memoryAPI) seen() (opened, open int, last tls.ConnectionState) {
	synctest.Wait()

	m.mu.Lock()
	defer m.mu.Unlock()

	return m.opened, m.open, m.last
}

// kubeconfig for it, as such a user, who trusts that CA.
func (m *memoryAPI) kubeconfig(t *testing.T, ca []byte, user clientcmdapi.AuthInfo) *vcluster.Kubeconfig {
	t.Helper()

	return writeKubeconfig(t, clientcmdapi.Cluster{Server: "https://vc", CertificateAuthorityData: ca}, user)
}

// get is what the pool has for that kubeconfig, which reaches this API.
func (m *memoryAPI) get(t *testing.T, p *Pool, k *vcluster.Kubeconfig) *API {
	t.Helper()

	a := get(t, p, "one", k)
	a.transport.DialContext = m.dial

	return a
}

// withKey is a user with a certificate that is valid for so long.
func withKey(t *testing.T, valid time.Duration) clientcmdapi.AuthInfo {
	t.Helper()

	cert, key, _ := certificate(t, "tenant", valid)

	return clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
}

// TestResumes holds that a connection that nobody uses is closed soon, but not between
// requests that follow each other, and that the next resumes its session, for the same user.
func TestResumes(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		m := newMemoryAPI(t, year)
		user := withKey(t, year)
		a := m.get(t, NewPool(), m.kubeconfig(t, m.ca, user))
		cert, _ := pem.Decode(user.ClientCertificateData)

		steps := []struct {
			reason  string
			after   time.Duration
			opened  int
			resumed bool
		}{
			{"the first has nothing to resume", 0, 1, false},
			{"what follows at once shares the connection", idleTimeout / 2, 1, false},
			{"and so does what follows that", idleTimeout / 2, 1, false},
			{"it was closed meanwhile", 2 * idleTimeout, 2, true},
			{"what was resumed can be resumed", 2 * time.Hour, 3, true},
			{"a ticket does not last for ever", 8 * 24 * time.Hour, 4, false},
			{"a new one was given", 2 * idleTimeout, 5, true},
		}
		for _, s := range steps {
			time.Sleep(s.after)

			if err := a.Probe(t.Context()); err != nil {
				t.Fatalf("%s\n%v", s.reason, err)
			}

			opened, open, last := m.seen()
			if opened != s.opened || open != 1 || last.DidResume != s.resumed {
				t.Errorf("%s\n%d connections were opened, of which %d are open, and resumed is %t; want %d, 1, %t", s.reason, opened, open, last.DidResume, s.opened, s.resumed)
			}

			if len(last.PeerCertificates) != 1 || string(last.PeerCertificates[0].Raw) != string(cert.Bytes) {
				t.Errorf("%s\nit was asked by another user", s.reason)
			}
		}

		time.Sleep(idleTimeout)

		if _, open, _ := m.seen(); open != 0 {
			t.Errorf("%d connections are open that nobody uses", open)
		}
	})
}

// TestNewCredentials holds that a session ends with the credentials and the trust that it
// began with, and with the clients.
func TestNewCredentials(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		m, p := newMemoryAPI(t, year), NewPool()
		user, other := withKey(t, year), withKey(t, year)
		_, _, stranger := certificate(t, "vc", year)
		both := append(append([]byte{}, stranger...), m.ca...)
		withToken := user
		withToken.Token = "token"

		cases := []struct {
			reason string
			k      *vcluster.Kubeconfig
			drop   bool
		}{
			{"other user", m.kubeconfig(t, m.ca, other), false},
			{"token too", m.kubeconfig(t, m.ca, withToken), false},
			{"another CA too", m.kubeconfig(t, both, user), false},
			{"dropped", m.kubeconfig(t, m.ca, user), true},
		}
		for _, tc := range cases {
			a := m.get(t, p, m.kubeconfig(t, m.ca, user))

			for _, resumed := range []bool{false, true} {
				if err := a.Probe(t.Context()); err != nil {
					t.Fatal(err)
				}

				if _, _, last := m.seen(); last.DidResume != resumed {
					t.Fatalf("resumed is %t, want %t", last.DidResume, resumed)
				}

				time.Sleep(2 * idleTimeout)
			}

			if tc.drop {
				p.Drop("one")
			}

			if err := m.get(t, p, tc.k).Probe(t.Context()); err != nil {
				t.Fatal(err)
			}

			if _, _, last := m.seen(); last.DidResume {
				t.Errorf("%s: a session was resumed", tc.reason)
			}

			p.Drop("one")
		}

		if err := m.get(t, p, m.kubeconfig(t, m.ca, user)).Probe(t.Context()); err != nil {
			t.Fatal(err)
		}

		err := m.get(t, p, m.kubeconfig(t, stranger, user)).Probe(t.Context())
		if want := (x509.UnknownAuthorityError{}); !errors.As(err, &want) {
			t.Errorf("want %T of a server that is trusted no more, got %v", want, err)
		}
	})
}

// TestExpired holds that no session outlives the certificates that it began with.
func TestExpired(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason         string
		server, client time.Duration
		refused        bool
	}{
		"Server": {"it cannot prove any more who it is", 2 * time.Hour, year, true},
		"Client": {"it is shown again, for the API server to refuse", year, 2 * time.Hour, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				m := newMemoryAPI(t, tc.server)
				a := m.get(t, NewPool(), m.kubeconfig(t, m.ca, withKey(t, tc.client)))

				for _, resumed := range []bool{false, true} {
					if err := a.Probe(t.Context()); err != nil {
						t.Fatal(err)
					}

					if _, _, last := m.seen(); last.DidResume != resumed {
						t.Fatalf("%s\nresumed is %t, want %t", tc.reason, last.DidResume, resumed)
					}

					time.Sleep(time.Hour)
				}

				time.Sleep(time.Minute)

				err := a.Probe(t.Context())

				var expired x509.CertificateInvalidError
				if refused := errors.As(err, &expired) && expired.Reason == x509.Expired; refused != tc.refused || err != nil && !refused {
					t.Errorf("%s\ngot %v", tc.reason, err)
				}

				if opened, _, last := m.seen(); opened != 3 || !tc.refused && last.DidResume {
					t.Errorf("%s\n%d connections were opened, and resumed is %t", tc.reason, opened, last.DidResume)
				}
			})
		})
	}
}

// TestSession holds that a session is for one server, and can be forgotten.
func TestSession(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		m := newMemoryAPI(t, year)
		a := m.get(t, NewPool(), m.kubeconfig(t, m.ca, withKey(t, year)))

		s := a.transport.TLSClientConfig.ClientSessionCache

		if _, ok := s.Get("vc"); ok {
			t.Error("there is a session before there was any")
		}

		if err := a.Probe(t.Context()); err != nil {
			t.Fatal(err)
		}

		if last, ok := s.Get("vc"); !ok || last == nil {
			t.Fatal("there is no session")
		}

		if _, ok := s.Get("other"); ok {
			t.Error("another server is given the session")
		}

		s.Put("vc", nil)

		if _, ok := s.Get("vc"); ok {
			t.Error("the session was not forgotten")
		}
	})
}
