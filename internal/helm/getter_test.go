// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/singleflight"
	"k8s.io/client-go/rest"
)

func TestBoundTransport(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{}, 2)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/quick" {
			_, _ = io.WriteString(w, "answer")
			return
		}
		if r.URL.Path == "/body" { // headers at once, the body never
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
		}
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)

	get := func(ctx context.Context, path string) ([]byte, error) {
		hc := &http.Client{Transport: &boundTransport{ctx: ctx, base: http.DefaultTransport}}
		// The request itself knows nothing of ctx.
		resp, err := hc.Get(s.URL + path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = resp.Body.Close() }()
		return io.ReadAll(resp.Body)
	}

	if got, err := get(t.Context(), "/quick"); err != nil || string(got) != "answer" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, path := range []string{"/header", "/body"} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-arrived
			cancel()
		}()
		if _, err := get(ctx, path); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: should end with the context, got %v", path, err)
		}
		cancel()
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := get(gone, "/quick"); !errors.Is(err, context.Canceled) {
		t.Errorf("should not begin, got %v", err)
	}
}

func TestNewHostKeepsConfig(t *testing.T) {
	t.Parallel()
	cfg := &rest.Config{
		Host:            "example.com:6443",
		BearerToken:     "token",
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		QPS:             7,
	}
	before := rest.CopyConfig(cfg)
	h, err := NewHost(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before, cfg) {
		t.Errorf("the config was changed: want %v, got %v", before, cfg)
	}
	if want := "https://example.com:6443"; h.config.Host != want {
		t.Errorf("got address %q, want %q", h.config.Host, want)
	}
	g := h.client("ns").connect(t.Context())
	if ns, _, err := g.ToRawKubeConfigLoader().Namespace(); err != nil || ns != "ns" {
		t.Errorf("got namespace %q, %v", ns, err)
	}
	a, _ := g.ToRESTConfig()
	a.Host = "changed"
	if b, _ := g.ToRESTConfig(); b.Host == "changed" {
		t.Error("configs handed out must be copies")
	}
	if _, err := NewHost(&rest.Config{Host: "http://h", TLSClientConfig: rest.TLSClientConfig{CAFile: "/nowhere"}}); err == nil {
		t.Error("a config that cannot be used should be refused")
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	var g singleflight.Group
	var once sync.Once
	started, proceed := make(chan struct{}), make(chan struct{})
	fn := func(ctx context.Context) (string, error) {
		once.Do(func() { close(started) })
		<-proceed
		return "done", ctx.Err()
	}

	first, cancel := context.WithCancel(t.Context())
	errs := make(chan error, 1)
	go func() {
		_, err := share(first, &g, "k", time.Minute, "k goes on", fn)
		errs <- err
	}()
	<-started
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "k goes on") {
		t.Errorf("the first caller should end with its context and say what goes on, got %v", err)
	}
	close(proceed)
	if got, err := share(t.Context(), &g, "k", time.Minute, "k goes on", fn); err != nil || got != "done" {
		t.Errorf("the work should outlive the first caller, got %q, %v", got, err)
	}

	if _, err := share(t.Context(), &g, "panic", time.Minute, "", func(context.Context) (string, error) { panic("x") }); err == nil {
		t.Error("a panic should be an error")
	}
	_, err := share(t.Context(), &g, "slow", time.Nanosecond, "", func(ctx context.Context) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the work should end at its limit, got %v", err)
	}
}

func TestOutlive(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	out, stop := outlive(ctx, time.Hour)
	cancel()
	if out.Err() != nil {
		t.Error("it should outlive its parent")
	}
	stop()
	if out.Err() == nil {
		t.Error("it should end when told")
	}

	ctx, cancel = context.WithCancel(t.Context())
	out, stop = outlive(ctx, time.Millisecond)
	defer stop()
	cancel()
	select {
	case <-out.Done():
	case <-time.After(10 * time.Second):
		t.Error("it should end after its parent")
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	cause := fmt.Errorf("a:\n\t* %s", "b\n\n")
	got := oneLine(cause)
	if got.Error() != "a: * b" || !errors.Is(got, cause) {
		t.Errorf("got %q", got)
	}
	if oneLine(nil) != nil {
		t.Error("no error should stay none")
	}
}

func TestCollectors(t *testing.T) {
	t.Parallel()
	if n := len(Collectors()); n != 2 {
		t.Errorf("got %d collectors, want 2", n)
	}
}

func TestClientFns(t *testing.T) {
	t.Parallel()
	var called []string
	note := func(s string) { called = append(called, s) }
	var c Client = ClientFns{
		GetFn: func(context.Context, string) (*Release, error) { note("get"); return nil, nil },
		InstallFn: func(context.Context, string, *Chart, map[string]any) (*Release, error) {
			note("install")
			return nil, nil
		},
		UpgradeFn: func(context.Context, string, *Chart, map[string]any) (*Release, error) {
			note("upgrade")
			return nil, nil
		},
		UninstallFn: func(context.Context, string) error { note("uninstall"); return nil },
		UnlockFn:    func(context.Context, *Release) error { note("unlock"); return nil },
	}
	_, _ = c.Get(t.Context(), "")
	_, _ = c.Install(t.Context(), "", nil, nil)
	_, _ = c.Upgrade(t.Context(), "", nil, nil)
	_ = c.Uninstall(t.Context(), "")
	_ = c.Unlock(t.Context(), nil)
	if diff := cmp.Diff([]string{"get", "install", "upgrade", "uninstall", "unlock"}, called); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestHostAway(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close() // nobody listens there now
	h, err := NewHost(&rest.Config{Host: s.URL})
	if err != nil {
		t.Fatalf("making a host makes no call, but got %v", err)
	}
	c := h.Client("ns")
	if _, err := c.Get(t.Context(), "vc-a"); err == nil || errors.Is(err, ErrReleaseNotFound) {
		t.Errorf("a host that is away is no absent release: %v", err)
	}
	if err := c.Uninstall(t.Context(), "vc-a"); err == nil {
		t.Error("a host that is away has uninstalled nothing")
	}
}

func TestCapabilitiesAreRemembered(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/version":
			asked.Add(1)
			_, _ = io.WriteString(w, `{"major": "1", "minor": "36", "gitVersion": "v1.36.3"}`)
		case "/api":
			_, _ = io.WriteString(w, `{"kind": "APIVersions", "versions": ["v1"]}`)
		case "/apis":
			_, _ = io.WriteString(w, `{"kind": "APIGroupList", "groups": []}`)
		case "/api/v1":
			_, _ = io.WriteString(w, `{"kind": "APIResourceList", "groupVersion": "v1", "resources": [{"name": "pods", "kind": "Pod"}]}`)
		}
	}))
	t.Cleanup(s.Close)
	h, err := NewHost(&rest.Config{Host: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		caps, err := h.capabilities(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if caps.KubeVersion.Version != "v1.36.3" || !caps.APIVersions.Has("v1/Pod") {
			t.Errorf("got %+v", caps)
		}
		caps.KubeVersion.Version = "changed" // it is the caller's own
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("the host was asked %d times, want 1", n)
	}
	h.mu.Lock()
	h.capsAt = h.capsAt.Add(-capabilitiesAge)
	h.mu.Unlock()
	if _, err := h.capabilities(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("old knowledge was not renewed: asked %d times, want 2", n)
	}
}
