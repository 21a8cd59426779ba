// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package crash kills the provider at each of its external calls in turn, starts it
// again, and holds that it converges.
//
// The provider is its own program, with real Helm, real charts of vCluster and real API
// servers: one is the host cluster, the others are the APIs of vClusters. What has
// no node here is played by a fake one. All calls but those for charts, which are for
// no Tenant, go through a proxy, which stops the provider in the middle of the one that
// is asked for. Several Tenants are stopped at once, each at a call of its own, and die
// by the same SIGKILL.
//
// Its code is built with the tag envtest only.
package crash
