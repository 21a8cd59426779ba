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
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// bound of the tests, in bytes and in values.
const (
	bound  = 1 << 20
	values = 100
)

// boundTo is a client of that server which reads no more than that of an answer.
func boundTo(t *testing.T, to Limits, answer http.HandlerFunc) (client.WithWatch, string) {
	t.Helper()

	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)

	cfg := &rest.Config{Host: s.URL}
	Check(cfg)
	Bound(cfg, to)

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

			c, server := boundTo(t, Limits{Bytes: bound}, tc.answer)

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

// TestBoundedValues holds that an answer of few bytes cannot become much in memory either,
// and that no other format than JSON is asked for or read.
func TestBoundedValues(t *testing.T) {
	t.Parallel()

	list := func(items string) string {
		return `{"kind":"NamespaceList","apiVersion":"v1","items":[` + items + `]}`
	}
	times := func(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	text := strings.Repeat(`{},[],\"\\`, values)

	cases := map[string]struct {
		reason string
		answer http.HandlerFunc
		says   string // empty: it is read
	}{
		"few":      {"an honest list", say(http.StatusOK, "application/json", list(times(10, `{"metadata":{"name":"x"}}`))), ""},
		"objects":  {"an object of two bytes is a large one in memory", say(http.StatusOK, "application/json", list(times(values, "{}"))), "more than 100 values"},
		"nulls":    {"and so is none", say(http.StatusOK, "application/json; charset=utf-8", list(times(values, "null"))), "more than 100 values"},
		"text":     {"brackets in a text are none", say(http.StatusOK, "application/json", list(`{"metadata":{"annotations":{"a":"`+text+`"}}}`)), ""},
		"long":     {"bytes count as well", say(http.StatusOK, "application/json", list(`{"metadata":{"name":"`+strings.Repeat("a", bound)+`"}}`)), "more than 1 MiB"},
		"protobuf": {"that has no brackets", say(http.StatusOK, "application/vnd.kubernetes.protobuf", "k8s\x00"), "was not asked for"},
		"YAML":     {"nor has that", say(http.StatusOK, "application/yaml", "kind: NamespaceList"), "was not asked for"},
		"no type": {"what says nothing is decoded by a guess", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, list(""))
		}, "was not asked for"},
		"a page": {"a failure in words is told", say(http.StatusBadGateway, "text/html", "no backend"), "none of an API server"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, _ := boundTo(t, Limits{Bytes: bound, Values: values}, func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Accept"); strings.Contains(got, "protobuf") || !strings.HasPrefix(got, "application/json") {
					t.Errorf("asked for %q", got)
				}

				tc.answer(w, r)
			})

			err := c.List(t.Context(), &corev1.NamespaceList{})
			if (err == nil) != (tc.says == "") || (err != nil && !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("%s: %v, want %q", tc.reason, err, tc.says)
			}
		})
	}
}

// TestOnlyJSON holds what is left of what a client accepts.
func TestOnlyJSON(t *testing.T) {
	t.Parallel()

	const as = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

	for accept, want := range map[string]string{
		"": contentJSON, "application/vnd.kubernetes.protobuf": contentJSON, "application/vnd.kubernetes.protobuf,application/json": contentJSON,
		"application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1," + as: as, as + "," + contentJSON: as + "," + contentJSON,
	} {
		if got := onlyJSON(accept); got != want {
			t.Errorf("of %q: %q, want %q", accept, got, want)
		}
	}
}

// TestBoundedWatch holds that a watch goes on however much it has told, and ends at an event
// that is too long, or that never ends.
func TestBoundedWatch(t *testing.T) {
	t.Parallel()

	const events = 5

	event := `{"type":"ADDED","object":` + padded(bound/2) + "}\n"

	cases := map[string]struct {
		reason string
		answer http.HandlerFunc
		limits Limits
		told   int
	}{
		"many":    {"its events count one by one", say(http.StatusOK, "application/json", strings.Repeat(event, events)), Limits{Bytes: bound}, events},
		"a long":  {"one is too long", say(http.StatusOK, "application/json", event+`{"type":"ADDED","object":`+padded(bound)+"}\n"+event), Limits{Bytes: bound}, 1},
		"no end":  {"one never ends", neverEnds(`{"type":"ADDED","object":"`), Limits{Bytes: bound}, 0},
		"a digit": {"nor does what is no object", neverEnds("1"), Limits{Bytes: bound}, 0},
		"full": {
			"one becomes much in memory",
			say(http.StatusOK, "application/json", event+`{"type":"ADDED","object":{"kind":"Namespace","apiVersion":"v1","spec":{"finalizers":[`+strings.Repeat("null,", values)+"null]}}}\n"),
			Limits{Bytes: bound, Values: values}, 1,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, _ := boundTo(t, tc.limits, tc.answer)

			w, err := c.Watch(t.Context(), &corev1.NamespaceList{})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()

			told := 0

			for e := range w.ResultChan() {
				if e.Type == watch.Added {
					told++
				}
			}

			if told != tc.told {
				t.Errorf("%s: %d events were told of, want %d", tc.reason, told, tc.told)
			}
		})
	}
}

// neverEnds begins like that, and goes on with digits for much longer than is read.
func neverEnds(begin string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, begin)

		for part := []byte(strings.Repeat("1", 1<<16)); ; {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	}
}
