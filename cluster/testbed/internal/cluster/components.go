// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/netns"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/node"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/policy"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/proc"
)

// The daemons of the node.
const (
	etcd              = "etcd"
	apiServer         = "kube-apiserver"
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
	kubelet           = "kubelet"
	kubeProxy         = "kube-proxy"
	policyEngine      = "kube-network-policies"
	containerd        = "containerd"
	registryDaemon    = "registry"
	gitDaemon         = "git"
	provisioner       = "provisioner"
)

// Components are the daemons' names, in the order of their start.
var Components = []string{
	etcd, registryDaemon, gitDaemon, containerd, apiServer,
	controllerManager, scheduler, kubelet, kubeProxy, policyEngine, provisioner,
}

const etcdURL = "http://127.0.0.1:2379"

// daemon returns the named daemon. Each runs in the cluster's network
// namespace. It is entered by nsenter, which becomes the daemon; "ip netns exec"
// would mount another /sys, in which the kubelet finds no control groups.
func (c *Cluster) daemon(name string) proc.Daemon {
	enter := []string{"nsenter", "--net=" + netns.Path(c.name)}
	var command []string
	switch name {
	case etcd:
		command = c.etcdCommand()
	case apiServer:
		command = c.apiServerCommand()
	case controllerManager:
		command = c.controllerManagerCommand()
	case scheduler:
		command = c.schedulerCommand()
	case containerd:
		command = c.containerdCommand()
	case kubelet:
		enter = append(enter, "--mount=/proc/"+strconv.Itoa(c.running[containerd].PID)+"/ns/mnt")
		command = c.kubeletCommand()
	case kubeProxy:
		command = []string{c.programs[kubeProxy], "--config=" + c.state.path("config", "kube-proxy.yaml")}
	case policyEngine:
		command = c.policyEngineCommand()
	case registryDaemon:
		command = []string{c.self, "serve-registry", "--address=" + node.Registry, "--folder=" + c.state.path("registry"), "--shared=" + c.content.Folder()}
	case gitDaemon:
		command = []string{c.self, "serve-git", "--address=" + node.Git, "--folder=" + c.state.path("git")}
	case provisioner:
		command = []string{c.self, "provision-volumes", "--kubeconfig=" + c.state.path("pki", "provisioner.kubeconfig"), "--folder=" + c.state.volumes()}
	}
	return proc.Daemon{Name: name, Command: append(append(enter, "--"), command...)}
}

func (c *Cluster) etcdCommand() []string {
	const peer = "http://127.0.0.1:2380"
	return []string{
		c.programs[etcd], "--name=node", "--data-dir=" + c.state.path("etcd"),
		"--listen-client-urls=" + etcdURL, "--advertise-client-urls=" + etcdURL,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=node=" + peer,
		// The data does not outlive the machine's run anyway.
		"--unsafe-no-fsync",
	}
}

func (c *Cluster) apiServerCommand() []string {
	pki := c.state.pki()
	return []string{
		c.programs[apiServer],
		"--etcd-servers=" + etcdURL,
		"--bind-address=" + node.IP, "--advertise-address=" + node.IP, "--secure-port=6443",
		"--service-cluster-ip-range=" + node.ServiceSubnet,
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged",
		"--authentication-config=" + c.state.path("config", "authentication.yaml"),
		"--client-ca-file=" + pki + "/ca.crt",
		"--tls-cert-file=" + pki + "/apiserver.crt", "--tls-private-key-file=" + pki + "/apiserver.key",
		"--kubelet-certificate-authority=" + pki + "/ca.crt",
		"--kubelet-client-certificate=" + pki + "/apiserver-kubelet-client.crt",
		"--kubelet-client-key=" + pki + "/apiserver-kubelet-client.key",
		// The node's name cannot be resolved, and need not be.
		"--kubelet-preferred-address-types=InternalIP",
		"--requestheader-client-ca-file=" + pki + "/front-proxy-ca.crt", "--requestheader-allowed-names=front-proxy",
		"--requestheader-username-headers=X-Remote-User", "--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--proxy-client-cert-file=" + pki + "/front-proxy-client.crt", "--proxy-client-key-file=" + pki + "/front-proxy-client.key",
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + pki + "/service-accounts.key",
		"--service-account-signing-key-file=" + pki + "/service-accounts.key",
		"--audit-policy-file=" + c.state.path("config", "audit-policy.yaml"), "--audit-log-path=" + c.state.auditLog(),
	}
}

// reach are the flags by which the controller manager and the scheduler find
// the API server and trust those who ask them.
func (c *Cluster) reach(name string) []string {
	kubeconfig := c.state.path("pki", name+".kubeconfig")
	return []string{
		"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		// There is one of each, which need not wait for its turn.
		"--leader-elect=false",
		"--kube-api-qps=200", "--kube-api-burst=400",
	}
}

func (c *Cluster) controllerManagerCommand() []string {
	pki := c.state.pki()
	return append([]string{
		c.programs[controllerManager],
		"--use-service-account-credentials",
		"--service-account-private-key-file=" + pki + "/service-accounts.key", "--root-ca-file=" + pki + "/ca.crt",
		"--cluster-signing-cert-file=" + pki + "/ca.crt", "--cluster-signing-key-file=" + pki + "/ca.key",
		"--service-cluster-ip-range=" + node.ServiceSubnet, "--cluster-cidr=" + node.PodSubnet,
	}, c.reach(controllerManager)...)
}

func (c *Cluster) schedulerCommand() []string {
	return append([]string{c.programs[scheduler]}, c.reach(scheduler)...)
}

func (c *Cluster) kubeletCommand() []string {
	return []string{
		c.programs[kubelet],
		"--config=" + c.state.path("config", "kubelet.yaml"),
		"--kubeconfig=" + c.state.path("pki", kubelet+".kubeconfig"),
		"--root-dir=" + node.KubeletRoot, "--hostname-override=" + c.name, "--node-ip=" + node.IP,
	}
}

func (c *Cluster) policyEngineCommand() []string {
	return []string{
		c.programs[policyEngine],
		"--kubeconfig=" + c.state.path("pki", policyEngine+".kubeconfig"), "--node=" + c.name,
		"--queue=" + strconv.Itoa(policy.Queue),
		"--cni=" + c.state.private(node.CNIState), "--network=" + node.PodNetwork,
	}
}

// containerdCommand starts containerd in a mount namespace of its own, which
// the kubelet joins. In it the cluster's folders lie over the usual places, and
// its mounts, those of the pods among them, go with its last process.
func (c *Cluster) containerdCommand() []string {
	var script strings.Builder
	script.WriteString("set -e; mount --make-rshared /; ")
	for _, place := range node.Private {
		fmt.Fprintf(&script, "mount --bind '%s' '%s'; ", c.state.private(place), place)
	}
	fmt.Fprintf(&script, "exec containerd --config '%s'", c.state.path("config", "containerd.toml"))
	return []string{"unshare", "--mount", "--propagation=private", "--", "/bin/sh", "-c", script.String()}
}
