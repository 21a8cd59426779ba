// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/images"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/node"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/pki"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/preflight"
)

// settings are what the node's configuration files are rendered with.
func (c *Cluster) settings() node.Settings {
	return node.Settings{
		Name:       c.name,
		State:      string(c.state),
		CgroupRoot: c.cgroup().Path(),
		CNIPlugins: preflight.CNIPlugins,
		PauseImage: images.Pause,
	}
}

// plan is what the cluster needs certificates for.
func (c *Cluster) plan() pki.Plan {
	const masters = "system:masters"
	return pki.Plan{
		Cluster: c.name, Node: c.name, Server: node.APIServer,
		APIHosts: []string{
			node.IP, node.ServiceIP, "127.0.0.1", "localhost",
			"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
		},
		NodeHosts: []string{node.IP, c.name},
		Users: map[string][]string{
			"admin":           {"admin", masters},
			provisioner:       {"testbed-provisioner", masters},
			policyEngine:      {"testbed-network-policies", masters},
			controllerManager: {"system:kube-controller-manager"},
			scheduler:         {"system:kube-scheduler"},
			kubeProxy:         {"system:kube-proxy"},
			kubelet:           {"system:node:" + c.name, "system:nodes"},
		},
	}
}
