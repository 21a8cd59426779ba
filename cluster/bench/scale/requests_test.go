// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/host"
)

func event(userAgent, verb, uri string) rig.AuditEvent {
	return rig.AuditEvent{UserAgent: userAgent, Verb: verb, RequestURI: uri}
}

func TestSortRequests(t *testing.T) {
	t.Parallel()

	const own = "provider/v0.0.0 (linux/amd64) kubernetes/$Format"

	got := sortRequests([]rig.AuditEvent{
		event(host.UserAgent, "get", "/api/v1/namespaces/vcluster-bench-00001/secrets/sh.helm.release.v1.vc-bench-00001.v1"),
		event(host.UserAgent, "get", "/api/v1/namespaces/vcluster-bench-00002/secrets/sh.helm.release.v1.vc-bench-00002.v1"),
		event(own, "update", "/apis/kubeopera.io/v1alpha1/namespaces/kubeopera-system/tenants/bench-00001/status"),
		event(host.UserAgent, "patch", "/api/v1/namespaces/vcluster-new-00001/limitranges/x?dryRun=All"),
	})
	want := requests{
		Host: counts{
			{"get", "/api/v1/namespaces/vcluster-X/secrets/sh.helm.release.v1.vc-X.v1"}: 2,
			{"dry-run", "/api/v1/namespaces/vcluster-X/limitranges/x"}:                  1,
		},
		Own: counts{{"update", "/apis/kubeopera.io/v1alpha1/namespaces/kubeopera-system/tenants/X/status"}: 1},
	}

	if diff := cmp.Diff(want, got, cmp.AllowUnexported(request{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	if r, w := got.Host.requests(), got.Host.writes(); r != 3 || w != 0 {
		t.Errorf("the host got %d requests and %d writes, want 3 and 0", r, w)
	}

	if w := got.Own.writes(); w != 1 {
		t.Errorf("the Tenants' cluster got %d writes, want 1", w)
	}
}

func TestWrites(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		request
		want bool
	}{
		"Get":      {reason: "a read changes nothing", request: request{"get", "/api/v1/namespaces"}},
		"Patch":    {reason: "an apply is a patch", request: request{"patch", "/api/v1/namespaces/x"}, want: true},
		"DryRun":   {reason: "what is tried only is not written", request: request{"dry-run", "/api/v1/namespaces/x"}},
		"Question": {reason: "a question for rights is no write, though it is posted", request: request{"create", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := tc.writes(); got != tc.want {
				t.Errorf("%s: writes() of %s: %t", tc.reason, tc.request, got)
			}
		})
	}
}

func TestRequestOf(t *testing.T) {
	t.Parallel()

	for url, want := range map[string]request{
		"GET /api/v1/namespaces/default":                                           {"get", "/api/v1/namespaces/default"},
		"GET /apis/apps/v1/namespaces/kube-system/deployments?watch=true":          {"watch", "/apis/apps/v1/namespaces/kube-system/deployments"},
		"PATCH /api/v1/namespaces/default/limitranges/kubeopera-tenant?dryRun=All": {"dry-run", "/api/v1/namespaces/default/limitranges/kubeopera-tenant"},
		"PATCH /api/v1/namespaces/default/limitranges/kubeopera-tenant?force=true": {"patch", "/api/v1/namespaces/default/limitranges/kubeopera-tenant"},
		"POST /api/v1/namespaces":                                                  {"create", "/api/v1/namespaces"},
		"PUT /api/v1/namespaces/3f1a2b4c-0000-4000-8000-000000000001":              {"update", "/api/v1/namespaces/UID"},
	} {
		var method, target string
		for i, r := range url {
			if r == ' ' {
				method, target = url[:i], url[i+1:]
			}
		}

		r := httptest.NewRequest(method, target, http.NoBody)
		if got := requestOf(r, r.URL.Path); got != want {
			t.Errorf("%s is %q, want %q", url, got, want)
		}
	}
}

func TestSince(t *testing.T) {
	t.Parallel()

	a, b, c := request{"get", "/a"}, request{"get", "/b"}, request{"watch", "/c"}

	got := counts{a: 3, b: 2, c: 1}.since(counts{a: 1, b: 2})
	if diff := cmp.Diff(counts{a: 2, c: 1}, got, cmp.AllowUnexported(request{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	if n := got.requests(); n != 2 {
		t.Errorf("%d requests, want 2: a watch lasts", n)
	}
}

func TestCountsAsJSON(t *testing.T) {
	t.Parallel()

	raw, err := json.Marshal(requests{Host: counts{{"get", "/b"}: 2, {"watch", "/c"}: 1, {"get", "/a"}: 2}})
	if want := `{"host":[{"request":"get /a","count":2},{"request":"get /b","count":2},{"request":"watch /c","count":1}],"own":[]}`; err != nil || string(raw) != want {
		t.Errorf("got %s, %v, want %s", raw, err, want)
	}
}

func TestTenantIn(t *testing.T) {
	t.Parallel()

	for _, want := range []string{tenantName(maxTenants - 1), bareName(maxTenants - 1), "new-00001"} {
		if got := tenantIn("vcluster-" + want); got != want {
			t.Errorf("tenantIn(...): got %q, want %q", got, want)
		}
	}
}
