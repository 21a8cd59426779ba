// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantapi

import (
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// epoch is when the tests begin.
var epoch = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// server is an API server that keeps the paths that it was asked for by who may.
type server struct {
	*httptest.Server

	mu    sync.Mutex
	paths []string
}

// newServer answers any path with a fitting object, to the bearer of the token "good".
func newServer(t *testing.T) *server {
	t.Helper()

	s := &server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")

		if r.Header.Get("Authorization") != "Bearer good" {
			w.WriteHeader(http.StatusUnauthorized)
			_ = json.NewEncoder(w).Encode(metav1.Status{Status: metav1.StatusFailure, Code: http.StatusUnauthorized, Reason: metav1.StatusReasonUnauthorized})

			return
		}

		s.mu.Lock()
		s.paths = append(s.paths, r.Method+" "+r.URL.Path+" "+r.UserAgent())
		s.mu.Unlock()

		var answer any = corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: "default"}}
		if strings.HasSuffix(r.URL.Path, "/secrets") {
			answer = corev1.SecretList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "SecretList"}}
		}

		_ = json.NewEncoder(w).Encode(answer)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // Handshakes that fail are meant to.
	s.StartTLS()
	t.Cleanup(s.Close)

	return s
}

func (s *server) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()

	out := s.paths
	s.paths = nil

	return out
}

// kubeconfig for a server, with that token.
func kubeconfig(t *testing.T, s *httptest.Server, token string) *vcluster.Kubeconfig {
	t.Helper()

	return writeKubeconfig(t, clusterOf(s), clientcmdapi.AuthInfo{Token: token})
}

func clusterOf(s *httptest.Server) clientcmdapi.Cluster {
	return clientcmdapi.Cluster{
		Server: s.URL, CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}),
	}
}

func writeKubeconfig(t *testing.T, cluster clientcmdapi.Cluster, user clientcmdapi.AuthInfo) *vcluster.Kubeconfig {
	t.Helper()

	raw, err := clientcmd.Write(clientcmdapi.Config{
		CurrentContext: "vc",
		Contexts:       map[string]*clientcmdapi.Context{"vc": {Cluster: "vc", AuthInfo: "vc"}},
		Clusters:       map[string]*clientcmdapi.Cluster{"vc": &cluster},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"vc": &user},
	})
	if err != nil {
		t.Fatal(err)
	}

	k, err := vcluster.ParseKubeconfig(raw)
	if err != nil {
		t.Fatal(err)
	}

	return k
}

func get(t *testing.T, p *Pool, tenant types.UID, k *vcluster.Kubeconfig) *API {
	t.Helper()

	a, err := p.Get(tenant, k)
	if err != nil {
		t.Fatal(err)
	}

	return a
}

// stopped says whether the API was closed.
func stopped(a *API) bool {
	a.followers.mu.Lock()
	defer a.followers.mu.Unlock()

	return a.followers.stopped
}

func TestGet(t *testing.T) {
	t.Parallel()

	s, p := newServer(t), NewPool()
	good := kubeconfig(t, s.Server, "good")
	first := get(t, p, "one", good)

	if get(t, p, "one", good) != first || get(t, p, "one", kubeconfig(t, s.Server, "good")) != first {
		t.Error("the same credentials were given other clients")
	}

	if get(t, p, "two", good) == first {
		t.Error("two Tenants share clients")
	}

	if len(s.asked()) > 0 {
		t.Error("to make clients asked the API")
	}

	second := get(t, p, "one", kubeconfig(t, s.Server, "other"))
	if second == first || !stopped(first) || stopped(second) {
		t.Error("other credentials were given the same clients, or the old are left open")
	}

	p.Drop("one")
	p.Drop("nobody")

	if third := get(t, p, "one", kubeconfig(t, s.Server, "other")); third == second || !stopped(second) {
		t.Error("what was dropped is not made anew")
	}
}

func TestGetConcurrently(t *testing.T) {
	t.Parallel()

	s, p := newServer(t), NewPool()
	k := kubeconfig(t, s.Server, "good")
	got := make([]*API, 20)

	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i], _ = p.Get("one", k) })
	}

	wg.Wait()

	if got[0] == nil || len(slices.Compact(got)) != 1 {
		t.Error("they were given different clients")
	}
}

// TestIdle holds that clients that nobody asks for are closed, and others stay.
func TestIdle(t *testing.T) {
	t.Parallel()

	s, p := newServer(t), NewPool()
	clk := clocktesting.NewFakePassiveClock(epoch)
	p.clock = clk
	k := kubeconfig(t, s.Server, "good")
	forgotten, wanted := get(t, p, "forgotten", k), get(t, p, "wanted", k)

	for range 3 {
		clk.SetTime(clk.Now().Add(idle / 2))

		if get(t, p, "wanted", k) != wanted {
			t.Fatal("clients that are asked for were made anew")
		}
	}

	if !stopped(forgotten) || len(p.apis) != 1 {
		t.Errorf("%d sets of clients are open", len(p.apis))
	}
}

// TestClients holds that all clients reach the API by its credentials, and ask it
// for nothing but what is wanted.
func TestClients(t *testing.T) {
	t.Parallel()

	s := newServer(t)
	a := get(t, NewPool(), "one", kubeconfig(t, s.Server, "good"))

	if err := a.Live.Get(t.Context(), client.ObjectKey{Name: "default"}, &corev1.Namespace{}); err != nil {
		t.Error(err)
	}

	releases, err := a.Helm()
	if err != nil {
		t.Fatal(err)
	}

	if _, err := releases.Client("flux-system").Get(t.Context(), "flux"); !errors.Is(err, helm.ErrReleaseNotFound) {
		t.Errorf("want %v, got %v", helm.ErrReleaseNotFound, err)
	}

	if err := a.Probe(t.Context()); err != nil {
		t.Error(err)
	}

	want := []string{"/api/v1/namespaces/default", "/api/v1/namespaces/flux-system/secrets", "/api/v1/namespaces/default"}

	got := s.asked()
	if len(got) != len(want) {
		t.Fatalf("it was asked %v, want %v", got, want)
	}

	for i := range want {
		if !strings.Contains(got[i], " "+want[i]+" ") || !strings.HasPrefix(got[i], "GET ") {
			t.Errorf("it was asked %q, want %q", got[i], want[i])
		}
	}

	if !strings.HasSuffix(got[0], userAgent) {
		t.Errorf("it was asked by %q", got[0])
	}
}

// TestWrongServer holds that no credentials go to who cannot prove who it is.
func TestWrongServer(t *testing.T) {
	t.Parallel()

	s := newServer(t)

	wrong, err := kubeconfig(t, s.Server, "good").WithServer(s.URL, "not.in.the.certificate")
	if err != nil {
		t.Fatal(err)
	}

	if err := get(t, NewPool(), "one", wrong).Probe(t.Context()); err == nil || len(s.asked()) > 0 {
		t.Errorf("it was asked, or %v", err)
	}
}

// TestKinds holds that each kind can be named without asking an API.
func TestKinds(t *testing.T) {
	t.Parallel()

	for gvk, scope := range Kinds {
		m, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
		if err != nil {
			t.Errorf("%s: %v", gvk, err)
			continue
		}

		if m.Scope.Name() != scope.Name() || m.Resource.Resource != strings.ToLower(gvk.Kind)+"s" {
			t.Errorf("%s is %s, %s", gvk, m.Resource.Resource, m.Scope.Name())
		}

		if !scheme.Recognizes(gvk) {
			t.Errorf("%s is no type", gvk)
		}
	}

	if _, err := mapper.RESTMapping(appsv1.SchemeGroupVersion.WithKind("DaemonSet").GroupKind(), "v1"); err == nil {
		t.Error("a kind is known that nobody uses")
	}
}
