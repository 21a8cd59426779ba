// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package crash

import (
	"net/http"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

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

	s, err := rig.Serve(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = s.Close() })

	return s.URL
}

// serveTLS serves the handler, and returns the kubeconfig for it.
func serveTLS(t *testing.T, id rig.Identity, h http.Handler, as *rest.Config) []byte {
	t.Helper()

	s, err := id.ServeTLS(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = s.Close() })

	raw, err := rig.Kubeconfig(s.URL, id.Cert, as.CertData, as.KeyData)
	if err != nil {
		t.Fatal(err)
	}

	return raw
}

// forward passes requests on to the API server.
func forward(t *testing.T, to *rest.Config) http.Handler {
	t.Helper()

	h, err := rig.Forward(to)
	if err != nil {
		t.Fatal(err)
	}

	return h
}
