// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
	"github.com/kubeopera/provider-kubeopera/internal/glance"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// tenantServer is the API inside a vCluster: it has the namespace default, and one
// Deployment in flux-system that changes as soon as somebody watches.
type tenantServer struct {
	*httptest.Server
	down atomic.Bool
	// after is for how many nanoseconds it lets each caller wait.
	after atomic.Int64
}

func newTenantServer(t *testing.T) *tenantServer {
	t.Helper()

	s := &tenantServer{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(time.Duration(s.after.Load())):
		case <-r.Context().Done():
			return
		}

		w.Header().Set("Content-Type", "application/json")

		body := `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`

		switch {
		case s.down.Load():
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case r.URL.Path == "/api/v1/namespaces/default":
			body = `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}`
		case r.URL.Path == "/apis/apps/v1/namespaces/"+flux.Namespace+"/deployments" && r.URL.Query().Get("watch") != "":
			body = `{"type": "MODIFIED", "object": {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "source-controller"}}}`
		case r.URL.Path == "/api/v1/namespaces/"+flux.Namespace+"/secrets":
			body = `{"apiVersion": "v1", "kind": "SecretList", "items": []}`
		default:
			w.WriteHeader(http.StatusNotFound)
		}

		if _, err := w.Write([]byte(body)); err != nil {
			t.Log(err)
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // Clients that hang up are what is tested.
	s.StartTLS()
	t.Cleanup(s.Close)

	return s
}

func (s *tenantServer) kubeconfig(t *testing.T) *vcluster.Kubeconfig {
	t.Helper()

	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})

	k, err := vcluster.ParseKubeconfig(kubeconfigFor(s.URL, ca, pairOf("admin")))
	if err != nil {
		t.Fatal(err)
	}

	return k
}

// wakenQueue says what is done to it.
type wakenQueue struct {
	priorityqueue.PriorityQueue[reconcile.Request]

	woken chan string
}

func (q wakenQueue) Forget(r reconcile.Request) { q.woken <- "forget " + r.String() }
func (q wakenQueue) AddAfter(r reconcile.Request, d time.Duration) {
	q.woken <- fmt.Sprintf("add %s after %s", r, d)
}

// TestOpener holds what the way into a vCluster leads to: its API, its releases of
// Flux, and news of Flux that wake the Tenant.
func TestOpener(t *testing.T) {
	t.Parallel()

	s := newTenantServer(t)
	k := s.kubeconfig(t)

	woken := wakenQueue{woken: make(chan string, 10)}
	c := &connector{waker: &reconciler.Waker{}, tenants: tenantapi.NewPool()}

	if err := c.waker.Source().Start(t.Context(), woken); err != nil {
		t.Fatal(err)
	}

	in, err := c.opener(alice().Obj(), &glance.Look{})(k)
	if err != nil {
		t.Fatal(err)
	}

	if err := in.probe(t.Context()); err != nil {
		t.Errorf("an API that answers: %v", err)
	}

	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceDefault}}
	if err := in.live.Get(t.Context(), types.NamespacedName{Name: ns.Name}, ns); err != nil {
		t.Error(err)
	}

	releases, err := in.flux()
	if err != nil {
		t.Fatal(err)
	}

	if _, err := releases.Get(t.Context(), flux.ReleaseName); err == nil || !strings.Contains(err.Error(), flux.ReleaseName) {
		t.Errorf("a release that is not there: %v", err)
	}

	in.follow(flux.Namespace)

	for _, want := range []string{"forget " + aliceKey.String(), "add " + aliceKey.String() + " after 0s"} {
		if got := <-woken.woken; got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	}

	in.unfollow(flux.Namespace)
}

// TestOpenerKeepsConnections holds that those of a pass serve the next, until the
// API does not answer.
func TestOpenerKeepsConnections(t *testing.T) {
	t.Parallel()

	s := newTenantServer(t)
	k := s.kubeconfig(t)
	c := &connector{tenants: tenantapi.NewPool()}

	connections := func(probe bool) *tenantapi.API {
		t.Helper()

		in, err := c.opener(alice().Obj(), &glance.Look{})(k)
		if err != nil {
			t.Fatal(err)
		}

		open, err := c.tenants.Get(alice().Obj().GetUID(), k)
		if err != nil {
			t.Fatal(err)
		}

		if err := in.probe(t.Context()); (err == nil) != probe {
			t.Errorf("the API answers: %v", err)
		}

		return open
	}

	first := connections(true)
	if connections(true) != first {
		t.Error("another pass has other connections")
	}

	s.down.Store(true)
	connections(false)
	s.down.Store(false)

	if connections(true) == first {
		t.Error("connections that led nowhere are used again")
	}
}
