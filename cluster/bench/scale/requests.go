// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
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

// total of those that are asked for; watches are none, as they last.
func (c counts) total(wanted func(request) bool) int {
	sum := 0

	for r, n := range c {
		if r.verb != "watch" && wanted(r) {
			sum += n
		}
	}

	return sum
}

func all(request) bool         { return true }
func writing(r request) bool   { return r.writes() }
func (c counts) requests() int { return c.total(all) }
func (c counts) writes() int   { return c.total(writing) }

// most are the kinds of requests, the most frequent first.
func (c counts) most() []request {
	return slices.SortedFunc(maps.Keys(c), func(a, b request) int {
		return cmp.Or(cmp.Compare(c[b], c[a]), cmp.Compare(a.String(), b.String()))
	})
}

var (
	// tenantNames are those that the benchmark gives.
	tenantNames = regexp.MustCompile(`(bench|new|bare)-\d{5}`)
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

// places are whose cluster a request was for.
type places struct {
	// host is where vClusters run, own where Tenants live.
	host, own counts
}

// sort counts the requests of an audit log by the cluster that they were for: here
// one API server is both.
func sortRequests(events []rig.AuditEvent) places {
	out := places{host: counts{}, own: counts{}}

	for i := range events {
		e := &events[i]
		path, query, _ := strings.Cut(e.RequestURI, "?")
		r := request{verb: e.Verb, path: anyTenant(path)}

		if strings.Contains(query, "dryRun") {
			r.verb = "dry-run"
		}

		if isOwn(e) {
			out.own[r]++
		} else {
			out.host[r]++
		}
	}

	return out
}

func isOwn(e *rig.AuditEvent) bool {
	return e.ObjectRef.APIGroup == v1alpha1.GroupVersion.Group || e.ObjectRef.Namespace == rig.Namespace ||
		e.ObjectRef.Resource == "customresourcedefinitions" || strings.HasPrefix(e.UserAgent, "provider/")
}

// perPoll says how often a request was made for each Tenant and poll.
func perPoll(n, tenants int, polls float64) float64 { return float64(n) / float64(tenants) / polls }

// lines list the requests, per Tenant and poll, but for the rare ones.
func (c counts) lines(tenants int, polls float64) []string {
	var out []string

	for _, r := range c.most() {
		out = append(out, fmt.Sprintf("%8d  %6.2f  %s", c[r], perPoll(c[r], tenants, polls), r))
	}

	return out
}
