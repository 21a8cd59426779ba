// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const (
	clientID     = "provider"
	clientSecret = "s3cret-of-the-provider"
	// tokenPrefix begins each token.
	tokenPrefix = "token-of-the-server-"
)

// epoch is when the tests begin.
var epoch = time.Date(2026, 11, 29, 12, 0, 0, 123456000, time.UTC)

// active is the report of the tests.
func active() Report {
	return Report{
		TenantUID: "uid-alice", CloudSpaceID: "alice-id", Status: v1alpha1.ReportActive, Message: "all is well",
		VClusterName: "vc-alice", Generation: 3, ObservedAt: epoch,
	}
}

// request is one that a server got.
type request struct {
	method, path, authorization, key, contentType string

	body map[string]any
}

// server stands in for kubeopera-api and its token endpoint. Each of its answers
// can be replaced.
type server struct {
	*httptest.Server

	mu         sync.Mutex
	put, token http.HandlerFunc
	puts       []request
	issued     int
}

func newServer(t *testing.T) *server {
	t.Helper()

	s := &server{put: answer(http.StatusNoContent)}
	s.token = s.issue(3600)

	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)

	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	put, token := s.put, s.token
	s.mu.Unlock()

	if r.URL.Path == "/oauth/token" {
		token(w, r)
		return
	}

	got := request{
		method: r.Method, path: r.URL.Path, authorization: r.Header.Get("Authorization"),
		key: r.Header.Get("Idempotency-Key"), contentType: r.Header.Get("Content-Type"),
	}
	_ = json.NewDecoder(r.Body).Decode(&got.body)

	s.mu.Lock()
	s.puts = append(s.puts, got)
	s.mu.Unlock()

	put(w, r)
}

// answers replaces answers. Those that are nil stay.
func (s *server) answers(put, token http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if put != nil {
		s.put = put
	}

	if token != nil {
		s.token = token
	}
}

// issue tokens that are valid for so many seconds, to who knows the secret.
func (s *server) issue(seconds int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		if id != clientID || secret != clientSecret || r.PostFormValue("grant_type") != "client_credentials" {
			answer(http.StatusUnauthorized)(w, r)
			return
		}

		s.mu.Lock()
		s.issued++
		n := s.issued
		s.mu.Unlock()

		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"access_token":"%s%d","token_type":"bearer","expires_in":%d}`, tokenPrefix, n, seconds)
	}
}

// only the nth token is good.
func (s *server) only(n int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != fmt.Sprintf("Bearer %s%d", tokenPrefix, n) {
			answer(http.StatusUnauthorized)(w, r)
			return
		}

		answer(http.StatusOK)(w, r)
	}
}

func (s *server) seen() ([]request, int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.puts, s.issued
}

func (s *server) client(t *testing.T) *Client {
	t.Helper()

	return newClient(t, Options{BaseURL: s.URL, ClientID: clientID, ClientSecret: clientSecret})
}

func newClient(t *testing.T, o Options) *Client {
	t.Helper()

	c, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// answer with headers, given as name, value, and with a body that nobody may see.
func answer(code int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}

		w.WriteHeader(code)

		if code != http.StatusNoContent {
			_, _ = fmt.Fprintf(w, "request 4711 with %q was answered at %s", r.Header.Get("Authorization"), time.Now())
		}
	}
}

// hang until the client goes.
func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// cut the connection.
func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// half of a body, and then cut the connection.
func half(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, `{"access_token":"`+tokenPrefix)
		_ = http.NewResponseController(w).Flush()

		panic(http.ErrAbortHandler)
	}
}

// refusal is the *Error of a Put, which must show nothing that nobody may see.
func refusal(t *testing.T, err error, servers ...string) *Error {
	t.Helper()

	e := &Error{}
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *Error", err)
	}

	hidden := []string{clientSecret, url.QueryEscape(clientSecret), tokenPrefix, "Bearer", "Basic", "4711"}
	for _, s := range servers {
		u, uerr := url.Parse(s)
		if uerr != nil {
			t.Fatal(uerr)
		}

		hidden = append(hidden, u.Port())
	}

	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		for _, form := range []string{cause.Error(), fmt.Sprintf("%+v", cause), fmt.Sprintf("%#v", cause)} {
			for _, h := range hidden {
				if strings.Contains(form, h) {
					t.Errorf("%q shows %q", form, h)
				}
			}
		}
	}

	return e
}
