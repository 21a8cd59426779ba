// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package flux knows the Flux that runs inside a virtual cluster: the values of
// its chart, what it needs, whether it is healthy and whose it is. It has no
// client.
package flux

const (
	// Namespace of Flux inside the virtual cluster.
	Namespace = "flux-system"
	// ReleaseName is the name of its Helm release.
	ReleaseName = "flux"
	// DefaultRepository is where its chart comes from.
	DefaultRepository = "oci://ghcr.io/fluxcd-community/charts/flux2"
	// DefaultChartVersion is the version of its chart.
	DefaultChartVersion = "2.18.3"
)
