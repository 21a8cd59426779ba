// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	actionInstall   = "install"
	actionUpgrade   = "upgrade"
	actionUninstall = "uninstall"
	actionUnlock    = "unlock"

	resultSuccess      = "success"
	resultError        = "error"
	resultNotFound     = "not_found"
	resultUnauthorized = "unauthorized"
	resultUnreachable  = "unreachable"
)

var (
	actions = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kubeopera_helm_actions_total",
		Help: "Helm actions on host clusters and, for Flux, inside vClusters, by action (install, upgrade, uninstall, unlock) and result (success, error).",
	}, []string{"action", "result"})

	downloads = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "kubeopera_chart_downloads_total",
		Help: "Chart downloads, by result (success, not_found, unauthorized, unreachable, error). A chart taken from the cache is none.",
	}, []string{"result"})
)

// Collectors returns the counters of this package, for the caller to register
// once. They show zero before anything was counted.
func Collectors() []prometheus.Collector {
	for _, a := range []string{actionInstall, actionUpgrade, actionUninstall, actionUnlock} {
		actions.WithLabelValues(a, resultSuccess)
		actions.WithLabelValues(a, resultError)
	}
	for _, r := range []string{resultSuccess, resultError, resultNotFound, resultUnauthorized, resultUnreachable} {
		downloads.WithLabelValues(r)
	}
	return []prometheus.Collector{actions, downloads}
}

func countAction(action string, err error) {
	result := resultSuccess
	if err != nil {
		result = resultError
	}
	actions.WithLabelValues(action, result).Inc()
}

func countDownload(err error) {
	result := resultError
	switch {
	case err == nil:
		result = resultSuccess
	case errors.Is(err, ErrChartNotFound):
		result = resultNotFound
	case errors.Is(err, ErrRegistryUnauthorized):
		result = resultUnauthorized
	case errors.Is(err, ErrRegistryUnreachable):
		result = resultUnreachable
	}
	downloads.WithLabelValues(result).Inc()
}
