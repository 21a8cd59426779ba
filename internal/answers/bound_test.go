// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// bound of the tests, in bytes.
const bound = 1 << 20

// boundTo is a client of that server which reads no more than the bound of an answer.
func boundTo(t *testing.T, answer http.HandlerFunc) (client.WithWatch, string) {
	t.Helper()

	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)

	cfg := &rest.Config{Host: s.URL}
	Check(cfg)
	Bound(cfg, bound)

	m := meta.NewDefaultRESTMapper(nil)
	m.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)

	c, err := client.NewWithWatch(cfg, client.Options{Mapper: m})
	if err != nil {
		t.Fatal(err)
	}

	return c, s.URL
}

// padded is a namespace of that length.
func padded(length int) string {
	const begin, end = `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"x","annotations":{"a":"`, `"}}}`
	return begin + strings.Repeat("a", length-len(begin)-len(end)) + end
}

// endless writes as much as is read, up to what would show that there is no bound.
func endless(w io.Writer) (written int) {
	for part := []byte(strings.Repeat("a", 1<<16)); written < 64*bound; {
		n, err := w.Write(part)
		if written += n; err != nil {
			break
		}
	}

	return written
}

// TestBound holds that no more of an answer is read than is allowed, whatever it is an
// answer to, and that the error says who answers.
func TestBound(t *testing.T) {
	t.Parallel()

	get := func(c client.Client) error {
		return c.Get(t.Context(), client.ObjectKey{Name: "x"}, &corev1.Namespace{})
	}
	write := func(c client.Client) error { return c.Create(t.Context(), &corev1.Namespace{}) }
	flood := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)

			if n := endless(w); n >= 64*bound {
				t.Errorf("%d bytes were taken", n)
			}
		}
	}

	cases := map[string]struct {
		reason string
		answer http.HandlerFunc
		ask    func(client.Client) error
		fits   bool
	}{
		"as long as it may be": {"the bound itself is allowed", say(http.StatusOK, "application/json", padded(bound)), get, true},
		"one more":             {"more is not", say(http.StatusOK, "application/json", padded(bound+1)), get, false},
		"without end":          {"what has no length is read no further", flood(http.StatusOK), get, false},
		"a failure":            {"nor is one", flood(http.StatusInternalServerError), get, false},
		"to a write":           {"nor what a write is answered with", flood(http.StatusCreated), write, false},
		"packed":               {"what counts is what is kept in memory", packed, get, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, server := boundTo(t, tc.answer)

			err := tc.ask(c)
			if (err == nil) != tc.fits || errors.Is(err, ErrTooLong) == tc.fits {
				t.Errorf("%s: %v", tc.reason, err)
			}

			if !tc.fits && (!strings.Contains(err.Error(), server) || !strings.Contains(err.Error(), "1 MiB") || None(err)) {
				t.Errorf("%s: the error does not say who answers with how much, or that there was an answer: %v", tc.reason, err)
			}
		})
	}
}

// packed is an answer that is short as long as it is packed.
func packed(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")

	zip := gzip.NewWriter(w)
	_, _ = io.WriteString(zip, padded(bound+1))
	_ = zip.Close()
}

// TestBoundLeavesWatches holds that a watch goes on, however much it has told.
func TestBoundLeavesWatches(t *testing.T) {
	t.Parallel()

	const events = 5

	c, _ := boundTo(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")

		for range events {
			_, _ = io.WriteString(w, `{"type":"ADDED","object":`+padded(bound/2)+"}\n")
		}
	})

	w, err := c.Watch(t.Context(), &corev1.NamespaceList{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()

	told := 0
	for range w.ResultChan() {
		told++
	}

	if told != events {
		t.Errorf("%d events were told of, want %d", told, events)
	}
}
