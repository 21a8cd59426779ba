// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const proxyToken = "of-the-client"

// behindProxy is a proxy to an API server that knows one ConfigMap, and a client that
// comes through it and never tries again by itself.
func behindProxy(t *testing.T) (*FaultProxy, *kubernetes.Clientset) {
	t.Helper()

	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")

		switch {
		case r.Header.Get("Authorization") != "Bearer "+proxyToken:
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Query().Get("watch") != "":
			_, _ = io.WriteString(w, `{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"one"}}}`)
			_ = http.NewResponseController(w).Flush()

			<-r.Context().Done()
		default:
			_, _ = io.WriteString(w, `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"one"}}`)
		}
	}))
	t.Cleanup(api.Close)

	p, err := StartFaultProxy(t.Context(), &rest.Config{Host: api.URL, BearerToken: "of-someone-else"})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := p.Down(); err != nil {
			t.Error(err)
		}
	})

	return p, clientBy(t, p)
}

func clientBy(t *testing.T, p *FaultProxy) *kubernetes.Clientset {
	t.Helper()

	direct := clientcmdapi.NewConfig()
	direct.Clusters["c"] = &clientcmdapi.Cluster{Server: "https://elsewhere.example.org", CertificateAuthorityData: []byte("other")}
	direct.AuthInfos["u"] = &clientcmdapi.AuthInfo{Token: proxyToken}
	direct.Contexts["c"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	direct.CurrentContext = "c"

	raw, err := clientcmd.Write(*direct)
	if err != nil {
		t.Fatal(err)
	}

	if raw, err = p.Kubeconfig(raw); err != nil {
		t.Fatal(err)
	}

	cfg, err := clientcmd.RESTConfigFromKubeConfig(raw)
	if err != nil {
		t.Fatal(err)
	}

	k, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}

	return k
}

func TestFaultProxyPasses(t *testing.T) {
	t.Parallel()

	p, k := behindProxy(t)

	one, err := k.CoreV1().ConfigMaps("n").Get(t.Context(), "one", metav1.GetOptions{})
	if err != nil || one.GetName() != "one" {
		t.Errorf("What is not spoiled is the real API's, with the client's credentials: got %v, %v", one, err)
	}

	if got := p.Counts(); got != (HostFaultCounts{Requests: 1}) {
		t.Errorf("Counts(): got %+v", got)
	}
}

func TestFaultProxyRefusesWrites(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		code int
		is   func(error) bool
	}{
		"Forbidden": {http.StatusForbidden, kerrors.IsForbidden},
		"Internal":  {http.StatusInternalServerError, kerrors.IsInternalError},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p, k := behindProxy(t)
			p.Set(HostFault{RefuseWrites: tc.code})

			if _, err := k.CoreV1().ConfigMaps("n").Create(t.Context(), &corev1.ConfigMap{}, metav1.CreateOptions{}); !tc.is(err) {
				t.Errorf("A write is refused as an API server does it: got %v", err)
			}

			if _, err := k.CoreV1().ConfigMaps("n").Get(t.Context(), "one", metav1.GetOptions{}); err != nil {
				t.Errorf("A read is not: got %v", err)
			}

			p.Set(HostFault{})

			if _, err := k.CoreV1().ConfigMaps("n").Create(t.Context(), &corev1.ConfigMap{}, metav1.CreateOptions{}); err != nil {
				t.Errorf("It ends: got %v", err)
			}

			if got := p.Counts(); got.Refused != 1 {
				t.Errorf("Counts(): got %+v, want one that was refused", got)
			}
		})
	}
}

// TestFaultProxyTooMany holds that Go's client, which tries again by itself, sees a 429
// as one of an API server.
func TestFaultProxyTooMany(t *testing.T) {
	t.Parallel()

	w := httptest.NewRecorder()
	refuse(w, http.StatusTooManyRequests)

	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "1" {
		t.Errorf("refuse(...): got %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
}

func TestFaultProxyDelays(t *testing.T) {
	t.Parallel()

	const delay = 300 * time.Millisecond

	p, k := behindProxy(t)
	p.Set(HostFault{Delay: delay})

	begun := time.Now()
	if _, err := k.CoreV1().ConfigMaps("n").Get(t.Context(), "one", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}

	if took := time.Since(begun); took < delay {
		t.Errorf("A request takes %s at least: got %s", delay, took)
	}
}

func TestFaultProxyResets(t *testing.T) {
	t.Parallel()

	p, k := behindProxy(t)
	p.Set(HostFault{ResetEvery: 1})

	get := func() error {
		_, err := k.CoreV1().ConfigMaps("n").Get(t.Context(), "one", metav1.GetOptions{})

		return err
	}
	// The connection may go while the client sends, or while it waits.
	if err := get(); err == nil || kerrors.ReasonForError(err) != metav1.StatusReasonUnknown {
		t.Errorf("A request is cut off: got %v", err)
	}

	p.Set(HostFault{})

	if err := get(); err != nil {
		t.Errorf("A new connection works: got %v", err)
	}

	// Go's client tries a read again by itself.
	if got := p.Counts(); got.Reset == 0 || got.Requests != got.Reset+1 {
		t.Errorf("Counts(): got %+v, want all but the last reset", got)
	}
}

func TestFaultProxyDown(t *testing.T) {
	t.Parallel()

	p, k := behindProxy(t)
	if err := errors.Join(p.Down(), p.Down()); err != nil {
		t.Fatal(err)
	}

	if _, err := k.CoreV1().ConfigMaps("n").Get(t.Context(), "one", metav1.GetOptions{}); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("Nobody listens: got %v", err)
	}

	if err := errors.Join(p.Up(t.Context()), p.Up(t.Context())); err != nil {
		t.Fatal(err)
	}

	if _, err := k.CoreV1().ConfigMaps("n").Get(t.Context(), "one", metav1.GetOptions{}); err != nil {
		t.Errorf("It is up where it was, with the same certificate: got %v", err)
	}

	if got := p.Counts(); got.Outages != 1 {
		t.Errorf("Counts(): got %+v, want one outage", got)
	}
}

func TestFaultProxyCutsWatches(t *testing.T) {
	t.Parallel()

	p, k := behindProxy(t)

	w, err := k.CoreV1().ConfigMaps("n").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()

	// The first event shows that nothing is held back.
	if e := <-w.ResultChan(); e.Object == nil {
		t.Fatalf("The watch ended at once: %v", e)
	}

	if n := p.CutWatches(); n != 1 {
		t.Errorf("CutWatches(): want 1, got %d", n)
	}

	for e := range w.ResultChan() {
		if e.Object != nil && fmt.Sprintf("%T", e.Object) == "*v1.ConfigMap" {
			t.Errorf("No event comes after the cut: %v", e)
		}
	}
}

func TestFaultProxyNeedsAddress(t *testing.T) {
	t.Parallel()

	if _, err := StartFaultProxy(t.Context(), &rest.Config{Host: "nowhere"}); err == nil {
		t.Error("StartFaultProxy(...): want an error for an address without a scheme")
	}
}
