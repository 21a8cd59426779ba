// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package node holds the settings of the cluster's only node: its addresses and
// the configuration files of what runs on it.
package node

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"text/template"
)

const (
	// IP is the node's address, which no port of its bridge leads to.
	IP = "10.89.0.1"
	// CIDR is the node's address with its network.
	CIDR = IP + "/24"
	// APIServer is the URL of the API server.
	APIServer = "https://" + IP + ":6443"
	// Registry is the host and port of the node's registry, in plain HTTP.
	Registry = IP + ":5000"
	// Git is the host and port of the node's Git server, in plain HTTP.
	Git = IP + ":3000"
	// PodSubnet is where pods have their addresses.
	PodSubnet = "10.88.0.0/16"
	// PodNetwork is the CNI network of the pods.
	PodNetwork = "pods"
	// PodBridge is the bridge that all pods are on.
	PodBridge = "pods0"
	// ServiceSubnet is where services have their addresses.
	ServiceSubnet = "10.96.0.0/16"
	// ServiceIP is the address of the service "kubernetes".
	ServiceIP = "10.96.0.1"
	// DNS is the address of the cluster's DNS service.
	DNS = "10.96.0.10"

	// ContainerdState and the other paths below are seen by containerd, the
	// kubelet and their children only: these run in a mount namespace of their
	// own, in which the cluster's folders lie over the usual places.
	ContainerdState = "/run/containerd"
	// ContainerdSocket is where containerd is reached.
	ContainerdSocket = ContainerdState + "/containerd.sock"
	// CNIState is where CNI plugins keep what they made.
	CNIState = "/var/lib/cni"
	// KubeletRoot is the kubelet's folder.
	KubeletRoot = "/var/lib/kubelet"
)

// Private are the places over which the node's daemons have folders of their
// own. Some of these paths cannot be configured.
var Private = []string{ContainerdState, KubeletRoot, CNIState, "/var/log/containers", "/var/log/pods"}

// Settings are what differs from cluster to cluster.
type Settings struct {
	// Name is the cluster's and the node's name.
	Name string
	// State is the cluster's folder.
	State string
	// CgroupRoot is the control group of the pods.
	CgroupRoot string
	// CNIPlugins is the folder of the CNI plugins.
	CNIPlugins string
	// PauseImage is the image that holds a pod's namespaces.
	PauseImage string
}

//go:embed templates
var templates embed.FS

// files maps a template to where it goes below the folder config.
var files = map[string]string{
	"containerd.toml":     "containerd.toml",
	"hosts.toml":          "certs.d/_default/hosts.toml",
	"cni.conflist":        "cni/10-pods.conflist",
	"kubelet.yaml":        "kubelet.yaml",
	"kube-proxy.yaml":     "kube-proxy.yaml",
	"authentication.yaml": "authentication.yaml",
	"audit-policy.yaml":   "audit-policy.yaml",
	"resolv.conf":         "resolv.conf",
}

// Render returns the content of each configuration file by its path below the
// folder config of the cluster's folder.
func Render(s Settings) (map[string][]byte, error) {
	t, err := template.New("").Option("missingkey=error").ParseFS(templates, "templates/*")
	if err != nil {
		return nil, fmt.Errorf("cannot parse templates: %w", err)
	}
	values := struct {
		Settings
		IP, Registry, PodSubnet, PodNetwork, PodBridge, DNS string
		ContainerdState, ContainerdSocket, KubeletRoot      string
	}{s, IP, Registry, PodSubnet, PodNetwork, PodBridge, DNS, ContainerdState, ContainerdSocket, KubeletRoot}
	out := map[string][]byte{}
	for name, file := range files {
		var buf bytes.Buffer
		if err := t.ExecuteTemplate(&buf, name, values); err != nil {
			return nil, fmt.Errorf("cannot render %s: %w", name, err)
		}
		out[file] = buf.Bytes()
	}
	return out, nil
}

// Write renders the configuration files and writes them.
func Write(s Settings) error {
	rendered, err := Render(s)
	if err != nil {
		return err
	}
	for name, b := range rendered {
		file := filepath.Join(s.State, "config", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			return fmt.Errorf("cannot make folder of configuration: %w", err)
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			return fmt.Errorf("cannot write configuration: %w", err)
		}
	}
	return nil
}
