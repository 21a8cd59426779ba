// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// fakeHost is the API server of an empty cluster, that counts what it is asked.
func fakeHost(t *testing.T) (*httptest.Server, *atomic.Int64) {
	t.Helper()

	var asked atomic.Int64

	answers := map[string]string{
		"/api": `{"kind": "APIVersions", "versions": ["v1"]}`,
		"/apis": `{"kind": "APIGroupList", "apiVersion": "v1", "groups": [
			{"name": "apps", "versions": [{"groupVersion": "apps/v1", "version": "v1"}]},
			{"name": "networking.k8s.io", "versions": [{"groupVersion": "networking.k8s.io/v1", "version": "v1"}]},
			{"name": "discovery.k8s.io", "versions": [{"groupVersion": "discovery.k8s.io/v1", "version": "v1"}]}]}`,
		"/api/v1": `{"kind": "APIResourceList", "groupVersion": "v1", "resources": [
			{"name": "namespaces", "kind": "Namespace", "namespaced": false, "verbs": ["list", "watch", "get"]},
			{"name": "resourcequotas", "kind": "ResourceQuota", "namespaced": true, "verbs": ["list", "watch"]},
			{"name": "limitranges", "kind": "LimitRange", "namespaced": true, "verbs": ["list", "watch"]},
			{"name": "services", "kind": "Service", "namespaced": true, "verbs": ["list", "watch"]},
			{"name": "secrets", "kind": "Secret", "namespaced": true, "verbs": ["list", "watch"]}]}`,
		"/apis/apps/v1": `{"kind": "APIResourceList", "groupVersion": "apps/v1", "resources": [
			{"name": "statefulsets", "kind": "StatefulSet", "namespaced": true, "verbs": ["list", "watch"]},
			{"name": "deployments", "kind": "Deployment", "namespaced": true, "verbs": ["list", "watch"]}]}`,
		"/apis/networking.k8s.io/v1": `{"kind": "APIResourceList", "groupVersion": "networking.k8s.io/v1", "resources": [
			{"name": "networkpolicies", "kind": "NetworkPolicy", "namespaced": true, "verbs": ["list", "watch"]}]}`,
		"/apis/discovery.k8s.io/v1": `{"kind": "APIResourceList", "groupVersion": "discovery.k8s.io/v1", "resources": [
			{"name": "endpointslices", "kind": "EndpointSlice", "namespaced": true, "verbs": ["list", "watch"]}]}`,
	}
	watchable := map[string]string{
		"/api/v1/namespaces": "v1 Namespace", "/api/v1/resourcequotas": "v1 ResourceQuota", "/api/v1/limitranges": "v1 LimitRange",
		"/api/v1/services": "v1 Service", "/api/v1/secrets": "meta.k8s.io/v1 PartialObjectMetadata",
		"/apis/apps/v1/statefulsets": "apps/v1 StatefulSet", "/apis/apps/v1/deployments": "apps/v1 Deployment",
		"/apis/networking.k8s.io/v1/networkpolicies":                  "networking.k8s.io/v1 NetworkPolicy",
		"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices": "discovery.k8s.io/v1 EndpointSlice",
	}

	ctx, stop := context.WithCancel(context.Background())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")

		body, ok := answers[r.URL.Path]
		if kind := watchable[r.URL.Path]; kind != "" && r.URL.Query().Get("watch") != "" {
			version, kind, _ := strings.Cut(kind, " ")
			if r.URL.Query().Get("sendInitialEvents") == "true" {
				body += `{"type": "BOOKMARK", "object": {"apiVersion": "` + version + `", "kind": "` + kind +
					`", "metadata": {"resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}}}`
			}

			if _, err := w.Write([]byte(body)); err != nil && ctx.Err() == nil {
				t.Log(err)
			}

			w.(http.Flusher).Flush()

			// A watch stays open and tells of nothing more.
			select {
			case <-ctx.Done():
			case <-r.Context().Done():
			}

			return
		} else if kind != "" {
			version, kind, _ := strings.Cut(kind, " ")
			body, ok = `{"apiVersion": "`+version+`", "kind": "`+kind+`List", "metadata": {"resourceVersion": "1"}, "items": []}`, true
		}

		if !ok {
			w.WriteHeader(http.StatusNotFound)
			body = `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}`
		}

		if _, err := w.Write([]byte(body)); err != nil && ctx.Err() == nil {
			t.Log(err)
		}
	}))
	t.Cleanup(func() {
		stop()
		s.Close()
	})

	return s, &asked
}

// kubeconfigOf leads to a server without TLS.
func kubeconfigOf(t *testing.T, server string) string {
	t.Helper()

	c := clientcmdapi.NewConfig()
	c.CurrentContext = "host"
	c.Contexts["host"] = &clientcmdapi.Context{Cluster: "host", AuthInfo: "host"}
	c.Clusters["host"] = &clientcmdapi.Cluster{Server: server}
	c.AuthInfos["host"] = &clientcmdapi.AuthInfo{Token: "token"}

	raw, err := clientcmd.Write(*c)
	if err != nil {
		t.Fatal(err)
	}

	return string(raw)
}
