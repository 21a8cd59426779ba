// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package crash

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// call is a request of the provider.
type call struct {
	// to is whom it is for: host, vcluster or kubeopera-api.
	to     string
	method string
	path   string
	query  string
	body   []byte
}

// Whom calls are for.
const (
	toHost     = "host"
	toVCluster = "vcluster"
	toReports  = "kubeopera-api"
)

// readCall reads the request, which can be read once more after it.
func readCall(to string, r *http.Request) (call, error) {
	c := call{to: to, method: r.Method, path: r.URL.Path, query: r.URL.RawQuery}
	if r.Body == nil || r.Method == http.MethodGet {
		return c, nil
	}

	body, err := io.ReadAll(r.Body)
	if err != nil {
		return c, fmt.Errorf("cannot read a request: %w", err)
	}

	c.body, r.Body = body, io.NopCloser(bytes.NewReader(body))

	return c, nil
}

func (c call) String() string { return fmt.Sprintf("%s %s of %s", c.method, c.path, c.to) }

// watches says that the call lasts, and is no step of anything.
func (c call) watches() bool { return strings.Contains(c.query, "watch=") }

// asks are the paths of questions that are put by POST and change nothing.
var asks = []string{"/selfsubjectaccessreviews", "/selfsubjectrulesreviews", "/oauth/token"}

// writes says that the call changes something. Events only tell of changes, and come
// beside them in no order.
func (c call) writes() bool {
	switch {
	case c.method == http.MethodGet, c.method == http.MethodHead:
		return false
	case strings.Contains(c.query, "dryRun="), strings.Contains(c.path, "/events"):
		return false
	default:
		return !slices.ContainsFunc(asks, func(p string) bool { return strings.HasSuffix(c.path, p) })
	}
}

// lifeName is how each Tenant of these tests is named, and with it all that is made of it.
var lifeName = regexp.MustCompile(`life-\d{4}`)

// life is the name of the Tenant that the call is for; empty if it is for none or for all.
func (c call) life() string {
	if name := lifeName.FindString(c.path); name != "" {
		return name
	}

	return string(lifeName.Find(c.body))
}

func TestCall(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		call   call
		life   string
		writes bool
	}{
		"Read": {
			reason: "a read changes nothing",
			call:   call{method: http.MethodGet, path: "/api/v1/namespaces/vcluster-life-0001"},
			life:   "life-0001",
		},
		"Create": {
			reason: "a new object is named in the body",
			call:   call{method: http.MethodPost, path: "/api/v1/namespaces", body: []byte(`{"metadata":{"name":"vcluster-life-0002"}}`)},
			life:   "life-0002",
			writes: true,
		},
		"Question": {
			reason: "a question by POST changes nothing",
			call:   call{method: http.MethodPost, path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"},
		},
		"DryRun": {
			reason: "a dry run changes nothing",
			call:   call{method: http.MethodPatch, path: "/api/v1/namespaces/default/limitranges/x", query: "dryRun=All&force=true"},
		},
		"Delete": {
			reason: "a deletion is a write",
			call:   call{method: http.MethodDelete, path: "/api/v1/namespaces/vcluster-life-0003"},
			life:   "life-0003",
			writes: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := tc.call.writes(); got != tc.writes {
				t.Errorf("%s\nwrites(): got %t, want %t", tc.reason, got, tc.writes)
			}

			if got := tc.call.life(); got != tc.life {
				t.Errorf("%s\nlife(): got %q, want %q", tc.reason, got, tc.life)
			}
		})
	}
}
