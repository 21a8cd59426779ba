// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package app

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// between stands between a provider and an API server, and does to each call what
// the test says.
type between struct {
	*httptest.Server

	mu sync.Mutex
	// harm is done before a call is passed on; false ends it.
	harm func(http.ResponseWriter, *http.Request) bool
	// writes that were asked for, but for those of leases and of questions for rights.
	writes []string
}

func newBetween(t *testing.T, to *rest.Config) *between {
	t.Helper()
	transport, err := rest.TransportFor(to)
	if err != nil {
		t.Fatalf("TransportFor(...): %v", err)
	}
	u, _, err := rest.DefaultServerUrlFor(to)
	if err != nil {
		t.Fatalf("DefaultServerUrlFor(...): %v", err)
	}
	pass := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }, Transport: transport, FlushInterval: -1,
		ErrorLog: log.New(io.Discard, "", 0),
	}
	b := &between{}
	b.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.allows(w, r) {
			pass.ServeHTTP(w, r)
		}
	}))
	b.Config.ErrorLog = log.New(io.Discard, "", 0)
	b.Start()
	t.Cleanup(b.Close)
	return b
}

// kubeconfig of the API server, for who comes by this way.
func (b *between) kubeconfig(t *testing.T, h *hostCluster) []byte {
	t.Helper()
	raw, err := clientcmd.Write(h.access(b.URL))
	if err != nil {
		t.Fatalf("clientcmd.Write(...): %v", err)
	}
	return raw
}

func (b *between) allows(w http.ResponseWriter, r *http.Request) bool {
	b.mu.Lock()
	harm := b.harm
	if isWrite(r) {
		b.writes = append(b.writes, r.Method+" "+r.URL.Path)
	}
	b.mu.Unlock()
	return harm == nil || harm(w, r)
}

func isWrite(r *http.Request) bool {
	return r.Method != http.MethodGet && !strings.Contains(r.URL.Path, "/leases/") && !strings.Contains(r.URL.Path, "/authorization.k8s.io/")
}

// set what is done to calls from now on; nil passes them. What is open is cut.
func (b *between) set(harm func(http.ResponseWriter, *http.Request) bool) {
	b.mu.Lock()
	b.harm = harm
	b.mu.Unlock()
	b.CloseClientConnections()
}

// written since it was last asked for.
func (b *between) written() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.writes
	b.writes = nil
	return out
}

// away is an API server that cannot be reached.
func away(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }

// slow is one that takes 2 s for each call.
func slow(_ http.ResponseWriter, r *http.Request) bool {
	select {
	case <-time.After(2 * time.Second):
	case <-r.Context().Done():
	}
	return true
}

// readOnly is one that refuses writes.
func readOnly(w http.ResponseWriter, r *http.Request) bool {
	if isWrite(r) {
		http.Error(w, "etcdserver: mvcc: database space exceeded", http.StatusInternalServerError)
		return false
	}
	return true
}
