// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	rulesPath  = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
	accessPath = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
)

// apiServer answers each path with its text, to a caller that has the token
// and asks about the namespace "advisors".
func apiServer(t *testing.T, answers map[string]string) *httptest.Server {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Spec struct {
				Namespace          string
				ResourceAttributes struct{ Namespace, Verb, Resource string }
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		about := asked.Spec.Namespace
		if a := asked.Spec.ResourceAttributes; a.Verb == "get" && a.Resource == "secrets" {
			about = a.Namespace
		}
		said, ok := answers[r.URL.Path]
		if !ok || about != "advisors" || r.Method != http.MethodPost || r.Header.Get("Authorization") != "Bearer t0ken" {
			http.Error(w, "not allowed", http.StatusForbidden)
			return
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(said))
	}))
	t.Cleanup(s.Close)
	return s
}

// accountOf writes a service account of the server into a folder.
func accountOf(t *testing.T, s *httptest.Server) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"namespace": "advisors",
		"token":     "t0ken\n",
		"ca.crt":    string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	s := apiServer(t, map[string]string{
		rulesPath: `{"status": {"incomplete": true, "resourceRules": [
			{"verbs": ["create"], "apiGroups": ["authorization.k8s.io"], "resources": ["selfsubjectrulesreviews"]},
			{"verbs": ["list", "get"], "apiGroups": ["", "apps"], "resources": ["pods"]},
			{"verbs": ["watch"], "apiGroups": [""], "resources": ["pods", "events"]}]}}`,
		accessPath: `{"status": {"allowed": true}}`,
	})
	a, err := load(accountOf(t, s), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.answer(t.Context(), []string{"PATH=/bin", "ADVISOR_MODE=a=b", "ADVISOR_EMPTY=", "MY_ADVISOR_X=1", "ADVISOR"})
	if err != nil {
		t.Fatal(err)
	}
	want := answer{
		Namespace: "advisors",
		Rules: []rule{
			{Verbs: []string{"create"}, APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"selfsubjectrulesreviews"}},
			{Verbs: []string{"list", "get"}, APIGroups: []string{"", "apps"}, Resources: []string{"pods"}},
			{Verbs: []string{"watch"}, APIGroups: []string{""}, Resources: []string{"pods", "events"}},
		},
		Incomplete:    true,
		MayRead:       []string{"events", "pods", "pods.apps"},
		MayGetSecrets: true,
		Environment:   map[string]string{"ADVISOR_MODE": "a=b", "ADVISOR_EMPTY": ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAnswerFails(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		answers map[string]string
		want    string
	}{
		"RulesRefused":  {reason: "what the API server says is passed on", want: "SelfSubjectRulesReview: the API server says 403 Forbidden: not allowed"},
		"AccessRefused": {reason: "half an answer is none", answers: map[string]string{rulesPath: "{}"}, want: "SelfSubjectAccessReview: the API server says 403"},
		"NotJSON":       {reason: "an answer that is none is said to be", answers: map[string]string{rulesPath: "<html>"}, want: "cannot read answer to SelfSubjectRulesReview"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := apiServer(t, tc.answers)
			a, err := load(accountOf(t, s), s.URL)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.answer(t.Context(), nil); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: answer(...) = %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestLoadFails(t *testing.T) {
	t.Parallel()
	if _, err := load(t.TempDir(), "https://x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("load(...) of no account = %v, want %v", err, fs.ErrNotExist)
	}
	dir := accountOf(t, apiServer(t, nil))
	if err := os.WriteFile(filepath.Join(dir, "ca.crt"), []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(dir, "https://x"); err == nil || !strings.Contains(err.Error(), "ca.crt") {
		t.Errorf("load(...) = %v, want an error that names the file", err)
	}
}

// A server whose certificate is for another name gets no token.
func TestOtherServer(t *testing.T) {
	t.Parallel()
	s := apiServer(t, map[string]string{rulesPath: "{}", accessPath: "{}"})
	a, err := load(accountOf(t, s), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.answer(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	a.api = strings.Replace(a.api, "127.0.0.1", "localhost", 1)
	if _, err := a.answer(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("answer(...) of a server with a certificate for another name = %v", err)
	}
}

func TestHandler(t *testing.T) {
	t.Parallel()
	failure := errors.New("no answer")
	cases := map[string]struct {
		reason string
		method string
		path   string
		err    error
		status int
		want   string
	}{
		"Health":   {reason: "it is well even when the API server is not", path: "/healthz", err: failure, status: http.StatusOK, want: "ok"},
		"Answer":   {reason: "the answer is JSON", path: "/", status: http.StatusOK, want: `"namespace": "advisors"`},
		"NoAnswer": {reason: "the error is for the reader", path: "/", err: failure, status: http.StatusBadGateway, want: `"error": "no answer"`},
		"Unknown":  {reason: "there is nothing else", path: "/other", status: http.StatusNotFound},
		"Post":     {reason: "nothing can be changed", method: http.MethodPost, path: "/", status: http.StatusMethodNotAllowed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := handler(func(context.Context) (answer, error) { return answer{Namespace: "advisors"}, tc.err })
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), tc.method, tc.path, http.NoBody))
			if w.Code != tc.status || !strings.Contains(w.Body.String(), tc.want) {
				t.Errorf("%s: %s answers %d %q", tc.reason, tc.path, w.Code, w.Body)
			}
		})
	}
}
