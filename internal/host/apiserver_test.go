// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// apiServer serves the watched kinds. What is pushed is told to those who watch.
type apiServer struct {
	*httptest.Server

	// forbid answers every list and watch with 403.
	forbid bool

	mu      sync.Mutex
	objects map[string][]client.Object
	told    *sync.Cond
	asked   map[string]string
	stopped bool
}

// watchPaths are the kinds that a host watches.
var watchPaths = map[string][2]string{
	"/api/v1/namespaces": {"v1", "Namespace"}, "/api/v1/resourcequotas": {"v1", "ResourceQuota"}, "/api/v1/limitranges": {"v1", "LimitRange"},
	"/api/v1/services": {"v1", "Service"}, "/api/v1/secrets": {"meta.k8s.io/v1", "PartialObjectMetadata"},
	"/apis/apps/v1/statefulsets": {"apps/v1", "StatefulSet"}, "/apis/apps/v1/deployments": {"apps/v1", "Deployment"},
	"/apis/networking.k8s.io/v1/networkpolicies": {"networking.k8s.io/v1", "NetworkPolicy"}, apiSlices: {"discovery.k8s.io/v1", "EndpointSlice"},
}

// apiSlices say where the host's own API is.
const apiSlices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"

const discoveryOf = `{"kind": "APIResourceList", "groupVersion": "GV", "resources": [`

var discovery = map[string]string{
	"/api": `{"kind": "APIVersions", "versions": ["v1"]}`,
	"/apis": `{"kind": "APIGroupList", "apiVersion": "v1", "groups": [
		{"name": "apps", "versions": [{"groupVersion": "apps/v1", "version": "v1"}]},
		{"name": "networking.k8s.io", "versions": [{"groupVersion": "networking.k8s.io/v1", "version": "v1"}]},
		{"name": "discovery.k8s.io", "versions": [{"groupVersion": "discovery.k8s.io/v1", "version": "v1"}]}]}`,
	"/api/v1": strings.Replace(discoveryOf, "GV", "v1", 1) + `
		{"name": "namespaces", "kind": "Namespace", "verbs": ["list", "watch", "get"]},
		{"name": "resourcequotas", "kind": "ResourceQuota", "namespaced": true, "verbs": ["list", "watch"]},
		{"name": "limitranges", "kind": "LimitRange", "namespaced": true, "verbs": ["list", "watch"]},
		{"name": "services", "kind": "Service", "namespaced": true, "verbs": ["list", "watch"]},
		{"name": "secrets", "kind": "Secret", "namespaced": true, "verbs": ["list", "watch"]}]}`,
	"/apis/apps/v1": strings.Replace(discoveryOf, "GV", "apps/v1", 1) + `
		{"name": "statefulsets", "kind": "StatefulSet", "namespaced": true, "verbs": ["list", "watch"]},
		{"name": "deployments", "kind": "Deployment", "namespaced": true, "verbs": ["list", "watch"]}]}`,
	"/apis/networking.k8s.io/v1": strings.Replace(discoveryOf, "GV", "networking.k8s.io/v1", 1) + `
		{"name": "networkpolicies", "kind": "NetworkPolicy", "namespaced": true, "verbs": ["list", "watch"]}]}`,
	"/apis/discovery.k8s.io/v1": strings.Replace(discoveryOf, "GV", "discovery.k8s.io/v1", 1) + `
		{"name": "endpointslices", "kind": "EndpointSlice", "namespaced": true, "verbs": ["list", "watch"]}]}`,
}

func newAPIServer(t *testing.T) *apiServer {
	t.Helper()

	s := &apiServer{objects: map[string][]client.Object{}, asked: map[string]string{}}
	s.told = sync.NewCond(&s.mu)
	s.Server = httptest.NewServer(s)

	t.Cleanup(func() {
		s.mu.Lock()
		s.stopped = true
		s.mu.Unlock()
		s.told.Broadcast()
		s.CloseClientConnections()
		s.Close()
	})

	return s
}

func (s *apiServer) push(path string, o client.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()

	o.SetResourceVersion("2")
	s.objects[path] = append(s.objects[path], o)
	s.told.Broadcast()
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")

	if _, ok := watchPaths[r.URL.Path]; ok && s.forbid {
		w.WriteHeader(http.StatusForbidden)
		answer(w, json.RawMessage(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "message": "the provider may not list this", "code": 403}`))

		return
	}

	if kind, ok := watchPaths[r.URL.Path]; ok && r.URL.Query().Get("watch") != "" {
		s.serveWatch(w, r, kind)
		return
	} else if ok {
		answer(w, map[string]any{"apiVersion": kind[0], "kind": kind[1] + "List", "metadata": map[string]any{"resourceVersion": "1"}, "items": []any{}})
		return
	}

	body, ok := discovery[r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)

		body = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`
	}

	answer(w, json.RawMessage(body))
}

// serveWatch tells of the objects there are, that those were all, and then of
// what is pushed.
func (s *apiServer) serveWatch(w http.ResponseWriter, r *http.Request, kind [2]string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.asked[r.URL.Path] = r.URL.Query().Get("labelSelector")
	meta := map[string]any{"resourceVersion": "1", "annotations": map[string]string{"k8s.io/initial-events-end": "true"}}
	answer(w, map[string]any{"type": "BOOKMARK", "object": map[string]any{"apiVersion": kind[0], "kind": kind[1], "metadata": meta}})

	for next := 0; !s.stopped && r.Context().Err() == nil; s.told.Wait() {
		for ; next < len(s.objects[r.URL.Path]); next++ {
			answer(w, map[string]any{"type": "ADDED", "object": s.objects[r.URL.Path][next]})
		}

		w.(http.Flusher).Flush()
	}
}

func answer(w http.ResponseWriter, v any) {
	// Whoever hangs up needs no answer.
	_ = json.NewEncoder(w).Encode(v)
}
