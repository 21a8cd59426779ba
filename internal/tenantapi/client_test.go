// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// below is a kubeconfig for what a server has below that path.
func below(t *testing.T, s *httptest.Server, path string) *vcluster.Kubeconfig {
	t.Helper()

	k, err := kubeconfig(t, s, "good").WithServer(s.URL+path, "")
	if err != nil {
		t.Fatal(err)
	}

	return k
}

// TestOwnAPI holds that whatever a Tenant's client does is done at that Tenant's API,
// though all Tenants share a client.
func TestOwnAPI(t *testing.T) {
	t.Parallel()

	s, p := newServer(t), NewPool()
	tenants := map[string]*API{
		"/one": get(t, p, "one", below(t, s.Server, "/one")),
		"/two": get(t, p, "two", below(t, s.Server, "/two/")),
		"":     get(t, p, "three", below(t, s.Server, "")),
	}
	ns := func() *corev1.Namespace { return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}} }
	metadata := func() *metav1.PartialObjectMetadata {
		m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
		m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))

		return m
	}

	for want, do := range map[string]func(ctx context.Context, c client.WithWatch) error{
		"GET /api/v1/namespaces/default": func(ctx context.Context, c client.WithWatch) error {
			return c.Get(ctx, client.ObjectKeyFromObject(ns()), ns())
		},
		"GET /api/v1/namespaces/default ": func(ctx context.Context, c client.WithWatch) error {
			return c.Get(ctx, client.ObjectKeyFromObject(ns()), metadata())
		},
		"GET /api/v1/namespaces/n/services": func(ctx context.Context, c client.WithWatch) error {
			return c.List(ctx, &corev1.ServiceList{}, client.InNamespace("n"))
		},
		"GET /api/v1/namespaces": func(ctx context.Context, c client.WithWatch) error {
			w, err := c.Watch(ctx, &corev1.NamespaceList{})
			if err == nil {
				w.Stop()
			}

			return err
		},
		"POST /api/v1/namespaces":           func(ctx context.Context, c client.WithWatch) error { return c.Create(ctx, ns()) },
		"PUT /api/v1/namespaces/default":    func(ctx context.Context, c client.WithWatch) error { return c.Update(ctx, ns()) },
		"DELETE /api/v1/namespaces/default": func(ctx context.Context, c client.WithWatch) error { return c.Delete(ctx, ns()) },
		"DELETE /api/v1/namespaces":         func(ctx context.Context, c client.WithWatch) error { return c.DeleteAllOf(ctx, ns()) },
		"PATCH /api/v1/namespaces/default": func(ctx context.Context, c client.WithWatch) error {
			return c.Patch(ctx, ns(), client.MergeFrom(ns()))
		},
		"PATCH /api/v1/namespaces/default ": func(ctx context.Context, c client.WithWatch) error {
			return c.Apply(ctx, corev1apply.Namespace("default"), client.FieldOwner("x"))
		},
	} {
		for path, a := range tenants {
			if err := do(t.Context(), a.Live); err != nil {
				t.Errorf("%s: %v", want, err)
			}

			method, rest, _ := strings.Cut(strings.TrimSpace(want), " ")
			if got := s.asked(); len(got) != 1 || !strings.HasPrefix(got[0], method+" "+path+rest+" ") {
				t.Errorf("want %s below %q, got %q", want, path, got)
			}
		}
	}
}

// TestNoAPI holds that what is not meant for a tenant's API goes nowhere.
func TestNoAPI(t *testing.T) {
	t.Parallel()

	a := get(t, NewPool(), "one", kubeconfig(t, newServer(t).Server, "good"))
	if err := a.Live.Status().Update(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}); !errors.Is(err, errNoAPI) {
		t.Errorf("want %v, got %v", errNoAPI, err)
	}
}

// TestErrorsNameTheAPI holds that a person is told which address does not answer.
func TestErrorsNameTheAPI(t *testing.T) {
	t.Parallel()

	s := newServer(t)
	a := get(t, NewPool(), "one", below(t, s.Server, "/one"))
	s.Close()

	for what, err := range map[string]error{
		"probe": a.Probe(t.Context()), "get": a.Live.Get(t.Context(), client.ObjectKey{Name: "default"}, &corev1.Namespace{}),
	} {
		if err == nil || !strings.Contains(err.Error(), `"`+s.URL+"/one/api/v1/namespaces/default") || strings.Contains(err.Error(), anyAPI) {
			t.Errorf("%s: %v", what, err)
		}
	}

	if _, err := a.Live.Watch(t.Context(), &corev1.NamespaceList{}); err == nil || !strings.Contains(err.Error(), s.URL) {
		t.Errorf("watch: %v", err)
	}
}

// TestRedirects holds that a redirect leads where it says.
func TestRedirects(t *testing.T) {
	t.Parallel()

	inner := newServer(t)

	cases := map[string]struct{ reason, to, want string }{
		"Path":     {"a path is one of the same host, whatever the path of the API", "/two/api", "/two/api"},
		"Relative": {"or one beside what was asked for", "other", "/one/api/v1/namespaces/other"},
		"Host":     {"another host may answer in its stead", inner.URL + "/elsewhere", "GET /elsewhere "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var paths []string

			s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if paths = append(paths, r.URL.Path); len(paths) == 1 {
					http.Redirect(w, r, tc.to, http.StatusTemporaryRedirect)
					return
				}

				inner.Config.Handler.ServeHTTP(w, r)
			}))
			t.Cleanup(s.Close)

			if err := get(t, NewPool(), "one", below(t, s, "/one")).Probe(t.Context()); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}

			if got := slices.Concat(paths, inner.asked()); !slices.ContainsFunc(got, func(one string) bool { return strings.HasPrefix(one, tc.want) }) {
				t.Errorf("%s: it was led to %q", tc.reason, got)
			}
		})
	}
}
