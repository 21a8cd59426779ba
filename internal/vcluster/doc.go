// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package vcluster knows vCluster: how the objects of a virtual cluster are named, which Helm values
// each supported version of its chart takes, which changes a running virtual cluster does not survive,
// and what an exported kubeconfig must hold. It is pure: it has no client, reads no file and never
// changes its inputs. Values are plain JSON-like maps, so that it needs no Helm either.
package vcluster
