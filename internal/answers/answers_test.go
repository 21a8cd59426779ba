// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	notFound  = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"namespaces \"x\" not found","reason":"NotFound","code":404}`
	namespace = `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"x","uid":"u"}}`
)

// newClient has an API server in whose stead this is said.
func newClient(t *testing.T, answer http.HandlerFunc) client.Client {
	t.Helper()

	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)

	return clientOf(t, s.URL)
}

func clientOf(t *testing.T, server string) client.Client {
	t.Helper()

	cfg := &rest.Config{Host: server}
	Check(cfg)

	m := meta.NewDefaultRESTMapper(nil)
	m.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)

	c, err := client.New(cfg, client.Options{Mapper: m})
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// say answers with that.
func say(code int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// cut ends the connection after that much of the answer.
func cut(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, body)
		_ = http.NewResponseController(w).Flush() // What is cut before is asked for again.

		panic(http.ErrAbortHandler)
	}
}

// TestR4OnlyAnAPIServerSaysThatSomethingIsAbsent holds what is taken for absence,
// in reads of one object and of all.
func TestR4OnlyAnAPIServerSaysThatSomethingIsAbsent(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		answer http.HandlerFunc
		absent bool
		says   string
	}{
		"R4: absent":       {"an API server says so in a Status", say(http.StatusNotFound, "application/json", notFound), true, "not found"},
		"R4: a page":       {"a load balancer says so of everything", say(http.StatusNotFound, "text/html", "<h1>404</h1>"), false, "none of an API server"},
		"R4: an empty 404": {"and some proxies by a word less", say(http.StatusNotFound, "text/plain", ""), false, "none of an API server"},
		"R4: other JSON":   {"or in words of their own", say(http.StatusNotFound, "application/json", `{"error":"no cluster"}`), false, "none of an API server"},
		"R4: nothing":      {"an answer without content is none", say(http.StatusOK, "application/json", ""), false, "none of an API server"},
		"R4: empty object": {"and neither is one with nothing in it", say(http.StatusOK, "application/json", "{}\n"), false, "none of an API server"},
		"R4: null":         {"in whatever way it says so", say(http.StatusOK, "application/json", "null"), false, "none of an API server"},
		"R4: half":         {"half an answer is none", cut(namespace[:40]), false, "unexpected EOF"},
		"R4: 500":          {"a failure is a failure", say(http.StatusInternalServerError, "text/plain", "no"), false, "an error on the server"},
		"R4: 403":          {"and so is a refusal", say(http.StatusForbidden, "text/plain", "no"), false, "no"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := newClient(t, tc.answer)
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))

			for _, o := range []client.Object{&corev1.Namespace{}, u, &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}} {
				err := c.Get(t.Context(), client.ObjectKey{Name: "x"}, o)
				if err == nil || kerrors.IsNotFound(err) != tc.absent || !strings.Contains(err.Error(), tc.says) {
					t.Errorf("%s\n%T: %v", tc.reason, o, err)
				}
			}

			l := &corev1.NamespaceList{}
			if err := c.List(t.Context(), l); err == nil || kerrors.IsNotFound(err) != tc.absent {
				t.Errorf("%s\nlist: %v, %d items", tc.reason, err, len(l.Items))
			}
		})
	}
}

// TestPassesOn holds that what an API server says arrives.
func TestPassesOn(t *testing.T) {
	t.Parallel()

	ns := &corev1.Namespace{}
	if err := newClient(t, say(http.StatusOK, "application/json", namespace)).Get(t.Context(), client.ObjectKey{Name: "x"}, ns); err != nil || ns.GetUID() != "u" {
		t.Errorf("an object arrives: got UID %q, error %v", ns.GetUID(), err)
	}

	// To delete what is not there is asked for again, and proven by a read.
	err := newClient(t, say(http.StatusNotFound, "text/plain", "404 page not found")).Delete(t.Context(), ns)
	if !kerrors.IsNotFound(err) {
		t.Errorf("a write is none of its business: got %v", err)
	}
}

// TestWholeAPIs holds that the page that an API server has for an API that it does
// not serve arrives as it is.
func TestWholeAPIs(t *testing.T) {
	t.Parallel()

	for path, want := range map[string]bool{
		"/api": false, "/api/v1": false, "/apis/apps/v1": false, "/openapi/v3/apis/apps/v1": false, "/version": false,
		"/api/v1/namespaces/x": true, "/apis/apps/v1/namespaces/x/deployments/y": true, "/clusters/c/api/v1/namespaces": true,
	} {
		if got := object.MatchString(path); got != want {
			t.Errorf("%s is of an object: got %t, want %t", path, got, want)
		}
	}
}

// TestNone holds which failures say that no API server answered.
func TestNone(t *testing.T) {
	t.Parallel()

	status := func(code int, reason metav1.StatusReason) http.HandlerFunc {
		return say(code, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"`+string(reason)+`","code":`+strconv.Itoa(code)+`}`)
	}

	cases := map[string]struct {
		reason string
		answer http.HandlerFunc
		want   bool
	}{
		"Page":          {"a load balancer has no backend", say(http.StatusNotFound, "text/html", "<h1>404</h1>"), true},
		"Nothing":       {"a proxy has nothing", say(http.StatusOK, "application/json", "{}"), true},
		"BadGateway":    {"a gateway gets no answer", say(http.StatusBadGateway, "text/html", "no"), true},
		"NoBackend":     {"or has nobody to ask", say(http.StatusServiceUnavailable, "text/plain", "no"), true},
		"Timeout":       {"or gave up on it", say(http.StatusGatewayTimeout, "text/html", "no"), true},
		"Busy":          {"an API server says that it cannot", status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable), false},
		"TooLong":       {"or that it takes too long", status(http.StatusGatewayTimeout, metav1.StatusReasonTimeout), false},
		"Panicked":      {"it failed without a Status", say(http.StatusInternalServerError, "text/plain", "no"), false},
		"Failed":        {"it failed", status(http.StatusInternalServerError, metav1.StatusReasonInternalError), false},
		"Forbidden":     {"it refused", status(http.StatusForbidden, metav1.StatusReasonForbidden), false},
		"Unauthorised":  {"it does not know who asks", status(http.StatusUnauthorized, metav1.StatusReasonUnauthorized), false},
		"Absent":        {"it says that there is none", say(http.StatusNotFound, "application/json", notFound), false},
		"Half":          {"somebody began to answer", cut(namespace[:40]), false},
		"SomethingThen": {"an answer that makes no sense", say(http.StatusOK, "application/json", "nonsense"), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := newClient(t, tc.answer).Get(t.Context(), client.ObjectKey{Name: "x"}, &corev1.Namespace{})
			if err == nil || None(err) != tc.want {
				t.Errorf("%s: got %t for %v", tc.reason, !tc.want, err)
			}
		})
	}
}

// TestCore holds for which paths the page of a gateway is none of an API server.
func TestCore(t *testing.T) {
	t.Parallel()

	for path, want := range map[string]bool{
		"/api": true, "/apis": true, "/api/v1": true, "/api/v1/namespaces/x": true, "/clusters/c/api/v1/namespaces": true,
		"/apis/metrics.k8s.io/v1beta1": false, "/apis/metrics.k8s.io/v1beta1/pods": false, "/version": false,
	} {
		if got := core.MatchString(path); got != want {
			t.Errorf("%s is the API server's own: got %t, want %t", path, got, want)
		}
	}
}

// TestNoneWithoutAnswer holds the same of requests that nobody could answer.
func TestNoneWithoutAnswer(t *testing.T) {
	t.Parallel()

	never := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	late, stop := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer stop()

	stopped, stop := context.WithCancel(t.Context())
	stop()

	secure := httptest.NewTLSServer(http.HandlerFunc(never))
	t.Cleanup(secure.Close)

	for name, tc := range map[string]struct {
		ctx  context.Context //nolint:containedctx // It is how the request ends.
		c    client.Client
		want bool
	}{
		"refused":     {t.Context(), clientOf(t, "http://127.0.0.1:1"), true},
		"in time":     {late, newClient(t, never), true},
		"certificate": {t.Context(), clientOf(t, secure.URL), true},
		"stopped":     {stopped, newClient(t, never), false},
	} {
		err := tc.c.Get(tc.ctx, client.ObjectKey{Name: "x"}, &corev1.Namespace{})
		if err == nil || None(err) != tc.want {
			t.Errorf("%s: got %t for %v", name, !tc.want, err)
		}
	}

	if None(nil) || None(io.EOF) {
		t.Error("what is no failure of a request is one")
	}
}
