// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestPodNamespace(t *testing.T) {
	t.Parallel()
	podFile := filepath.Join(t.TempDir(), "namespace")
	if err := os.WriteFile(podFile, []byte("kubeopera-system"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason  string
		asked   string
		podFile string
		want    string
	}{
		"Asked":   {"What was asked for is taken.", "here", podFile, "here"},
		"InPod":   {"Else it is the pod's own.", "", podFile, "kubeopera-system"},
		"Outside": {"Outside of a cluster there is no own one.", "", podFile + "-none", "kubeopera-system"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := podNamespace(tc.asked, tc.podFile); got != tc.want {
				t.Errorf("%s\npodNamespace(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

func TestCheckCRDs(t *testing.T) {
	t.Parallel()
	const all = `{"kind":"APIResourceList","resources":[{"name":"tenants"},{"name":"tenants/status"},{"name":"advisoragents"},{"name":"tenantquotas"},{"name":"providerconfigs"},{"name":"clusterproviderconfigs"},{"name":"providerconfigusages"}]}`
	cases := map[string]struct {
		reason string
		code   int
		body   string
		want   string
	}{
		"All":      {"All kinds are known.", http.StatusOK, all, ""},
		"NoGroup":  {"None of our kinds is known.", http.StatusNotFound, `{}`, "CRD tenants.kubeopera.io is not installed: kubectl apply -f package/crds"},
		"NoTenant": {"A subresource is not the kind.", http.StatusOK, strings.Replace(all, `{"name":"tenants"},`, "", 1), "CRD tenants.kubeopera.io is not installed"},
		"NoUsage":  {"Each kind is needed.", http.StatusOK, strings.Replace(all, `,{"name":"providerconfigusages"}`, "", 1), "CRD providerconfigusages.kubeopera.io is not installed"},
		"Refused":  {"Not to know is not to know that it is absent.", http.StatusForbidden, `{}`, "cannot ask the cluster at http://"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/apis/kubeopera.io/v1alpha1" {
					t.Errorf("unexpected request %s", r.URL)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tc.code)
				_, _ = w.Write([]byte(tc.body))
			}))
			t.Cleanup(s.Close)

			err := checkCRDs(t.Context(), &rest.Config{Host: s.URL})
			if tc.want == "" {
				if err != nil {
					t.Errorf("%s\ncheckCRDs(...): %v", tc.reason, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s\ncheckCRDs(...): want %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

func TestRunNeedsChartCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := valid(t)
	c.ChartCache = filepath.Join(file, "charts")
	err := Run(t.Context(), c, NewLogger(t.Output(), false))
	if err == nil {
		t.Fatal("Run(...): want an error")
	}
	for _, want := range []string{"--chart-cache (CHART_CACHE)", c.ChartCache, "set it to a folder that the provider may write to"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Charts that cannot be kept are found before the cluster is asked for.\nRun(...): want %q, got %v", want, err)
		}
	}
}

// informers are caches of which GetInformer is all that is called.
type informers struct {
	cache.Informers
	get func(context.Context, client.Object) error
}

func (i informers) GetInformer(ctx context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	return nil, i.get(ctx, o)
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	kinds := 0
	c := &caches{cache: informers{get: func(context.Context, client.Object) error { kinds++; return nil }}}
	if err := c.check(nil); err == nil {
		t.Error("The provider is not ready before its caches are full.")
	}
	if err := c.Start(t.Context()); err != nil {
		t.Fatalf("Start(...): %v", err)
	}
	if err := c.check(nil); err != nil {
		t.Errorf("The provider is ready once its caches are full.\ncheck(...): %v", err)
	}
	if kinds != 4 {
		t.Errorf("Each of the 4 kinds has a cache, got %d", kinds)
	}
	if c.NeedLeaderElection() {
		t.Error("A replica that waits for its turn is ready too.")
	}
}

func TestReadinessFails(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	c := &caches{cache: informers{get: func(context.Context, client.Object) error { return boom }}}
	if err := c.Start(t.Context()); !errors.Is(err, boom) {
		t.Errorf("What a cache fails with ends the provider.\nStart(...): want %v, got %v", boom, err)
	}
	if err := c.check(nil); err == nil {
		t.Error("A cache that is not full is no reason to be ready.")
	}

	ctx, stop := context.WithCancel(t.Context())
	c = &caches{cache: informers{get: func(ctx context.Context, _ client.Object) error { stop(); return ctx.Err() }}}
	if err := c.Start(ctx); err != nil {
		t.Errorf("To be told to stop is no failure.\nStart(...): %v", err)
	}
	if err := c.check(nil); err == nil {
		t.Error("Caches that were stopped are not full.")
	}
}
