// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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

	cfg := &rest.Config{Host: s.URL}
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
