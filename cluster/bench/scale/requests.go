// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/host"
)

// request is one kind of request: of any Tenant, whatever its names.
type request struct{ verb, path string }

// String is it in words.
func (r request) String() string { return r.verb + " " + r.path }

// writes says that it changes something. What asks for rights, or tries something, does not.
func (r request) writes() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, r.verb) && !strings.Contains(r.path, "subjectaccessreviews")
}

// counts are how often each kind of request was seen.
type counts map[request]int

// since is what was added to before.
func (c counts) since(before counts) counts {
	out := counts{}

	for r, n := range c {
		if d := n - before[r]; d > 0 {
			out[r] = d
		}
	}

	return out
}

// requests are how many there were. Watches are none, as they last.
func (c counts) requests() int {
	sum := 0

	for r, n := range c {
		if r.verb != "watch" {
			sum += n
		}
	}

	return sum
}

// writes are how many of them change something.
func (c counts) writes() int {
	sum := 0

	for r, n := range c {
		if r.writes() {
			sum += n
		}
	}

	return sum
}

// reads are how many of them change nothing.
func (c counts) reads() int { return c.requests() - c.writes() }

// MarshalJSON writes a list, the most frequent first.
func (c counts) MarshalJSON() ([]byte, error) {
	type count struct {
		Request string `json:"request"`
		Count   int    `json:"count"`
	}

	out := make([]count, 0, len(c))
	for _, r := range c.most() {
		out = append(out, count{Request: r.String(), Count: c[r]})
	}

	return json.Marshal(out)
}

// most are the kinds of requests, the most frequent first.
func (c counts) most() []request {
	return slices.SortedFunc(maps.Keys(c), func(a, b request) int {
		return cmp.Or(cmp.Compare(c[b], c[a]), cmp.Compare(a.String(), b.String()))
	})
}

var (
	// tenantNames are those that the benchmark gives.
	tenantNames = regexp.MustCompile(`(bench|new)-\d{5}|bare-\d{6}`)
	uids        = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	eventNames  = regexp.MustCompile(`\.[0-9a-f]{16}`)
)

// tenantIn is the name of the Tenant in another name.
func tenantIn(name string) string { return tenantNames.FindString(name) }

func anyTenant(path string) string {
	path = tenantNames.ReplaceAllString(path, "X")
	path = eventNames.ReplaceAllString(path, ".E")

	return uids.ReplaceAllString(path, "UID")
}

// requestOf the provider to a tenant's API.
func requestOf(r *http.Request, path string) request {
	q := r.URL.Query()
	verb := map[string]string{http.MethodPost: "create", http.MethodPut: "update"}[r.Method]

	switch {
	case q.Has("watch"):
		verb = "watch"
	case q.Has("dryRun"):
		verb = "dry-run"
	case verb == "":
		verb = strings.ToLower(r.Method)
	}

	return request{verb: verb, path: anyTenant(path)}
}

// requests are those of the provider, by whose API they were for.
type requests struct {
	// Host is where vClusters run, Own where Tenants live, Inside the vClusters.
	Host   counts `json:"host"`
	Own    counts `json:"own"`
	Inside counts `json:"inside,omitempty"`
}

// sortRequests counts the requests of an audit log by the cluster that they were for:
// here one API server is both the host and where Tenants live. As a host it is spoken to
// by clients that give their name.
func sortRequests(events []rig.AuditEvent) requests {
	out := requests{Host: counts{}, Own: counts{}}

	for i := range events {
		e := &events[i]
		path, query, _ := strings.Cut(e.RequestURI, "?")
		r := request{verb: e.Verb, path: anyTenant(path)}

		if strings.Contains(query, "dryRun") {
			r.verb = "dry-run"
		}

		if e.UserAgent == host.UserAgent {
			out.Host[r]++
		} else {
			out.Own[r]++
		}
	}

	return out
}

// perPoll is how often a request was made for each Tenant and poll.
func perPoll(n, tenants int, polls float64) float64 { return float64(n) / float64(tenants) / polls }

// lines list the requests, per Tenant and poll, the most frequent first.
func (c counts) lines(tenants int, polls float64) []string {
	var out []string

	for _, r := range c.most() {
		out = append(out, fmt.Sprintf("%8d  %6.2f  %s", c[r], perPoll(c[r], tenants, polls), r))
	}

	return out
}
