// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// probe asks the readiness probe.
func probe(r *readiness) (int, string) {
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
	return w.Code, w.Body.String()
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	log := &bytes.Buffer{}
	r := newReadiness(NewLogger(log, false))

	if code, body := probe(r); code != http.StatusServiceUnavailable || !strings.Contains(body, "rights are being reviewed") {
		t.Errorf("The provider is not ready before it has looked: got %d %q", code, body)
	}
	for range 3 {
		r.waitFor("grant them", "missing right: create pods", "missing right: delete pods")
	}
	if code, body := probe(r); code != http.StatusServiceUnavailable || body != "not ready\nmissing right: create pods\nmissing right: delete pods\n" {
		t.Errorf("Each reason is a line: got %d %q", code, body)
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "grant them") || !strings.Contains(got, "create pods") {
		t.Errorf("What does not change is logged once, with the remedy: got %s", got)
	}
	r.waitFor("grant them", "missing right: delete pods")
	if got := log.String(); strings.Count(got, "\n") != 2 {
		t.Errorf("A change is logged: got %s", got)
	}
	r.doing("caches are being filled")
	if code, body := probe(r); code != http.StatusServiceUnavailable || !strings.Contains(body, "caches") || strings.Count(log.String(), "\n") != 2 {
		t.Errorf("What takes a moment is said to those who ask: got %d %q, log %s", code, body, log)
	}
	r.done()
	if code, body := probe(r); code != http.StatusOK || body != "ok" {
		t.Errorf("The provider is ready: got %d %q", code, body)
	}
}
