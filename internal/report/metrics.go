// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import "github.com/prometheus/client_golang/prometheus"

const (
	resultAccepted = "accepted"
	resultFailed   = "failed"
)

var reports = prometheus.NewCounterVec(prometheus.CounterOpts{
	Name: "kubeopera_reports_total",
	Help: "Attempts to report the state of a CloudSpace to kubeopera-api, by result (accepted, failed).",
}, []string{"result"})

// Collectors are the metrics of this package, for the caller to register. They
// show zero before anything was counted.
func Collectors() []prometheus.Collector {
	reports.WithLabelValues(resultAccepted)
	reports.WithLabelValues(resultFailed)

	return []prometheus.Collector{reports}
}

func countAccepted() { reports.WithLabelValues(resultAccepted).Inc() }

func countFailed() { reports.WithLabelValues(resultFailed).Inc() }
