// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

var writes = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "kubeopera_host_writes_total",
	Help: "Requests to host clusters that change something, by HTTP method.",
}, []string{"method"})

// Collectors are the metrics of this package, for the caller to register. They
// show zero before anything was counted.
func Collectors() []prometheus.Collector {
	for _, m := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		writes.WithLabelValues(m)
	}

	return []prometheus.Collector{writes}
}

// countingTransport counts the requests that change something.
type countingTransport struct{ next http.RoundTripper }

// RoundTrip passes the request on.
func (t countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if isWrite(r) {
		writes.WithLabelValues(r.Method).Inc()
	}

	return t.next.RoundTrip(r)
}

// isWrite is false for access reviews, which are asked by POST.
func isWrite(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	default:
		return !strings.HasPrefix(r.URL.Path, "/apis/authorization.k8s.io/")
	}
}
