// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"runtime"
	"strings"

	"k8s.io/client-go/discovery"
)

// Facts say on what something was measured. What is not known is "unknown".
type Facts struct {
	Cores      int    `json:"cores"`
	Linux      string `json:"linux"`
	Load       string `json:"load"`
	Kubernetes string `json:"kubernetes"`
	// VClusterChart is the version of the chart that the test bed has.
	VClusterChart string `json:"vclusterChart"`
	Helm          string `json:"helm"`
	Go            string `json:"go"`
}

// Facts of the cluster, of the machine that it runs on, and of the provider's program.
func (c *Cluster) Facts(provider string) (Facts, error) {
	d, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		return Facts{}, fmt.Errorf("cannot make a discovery client: %w", err)
	}

	server, err := d.ServerVersion()
	if err != nil {
		return Facts{}, fmt.Errorf("cannot ask for the cluster's version: %w", err)
	}

	return Facts{
		Cores: runtime.NumCPU(), Linux: proc("sys/kernel/osrelease"), Load: proc("loadavg"),
		Kubernetes: server.GitVersion, VClusterChart: ChartVersion, Helm: moduleVersion(provider, "helm.sh/helm/v3"), Go: runtime.Version(),
	}, nil
}

// String is for a person, in two lines.
func (f Facts) String() string {
	return fmt.Sprintf("machine: %d cores, Linux %s, load %s\nversions: Kubernetes %s, vCluster chart %s, Helm %s, %s",
		f.Cores, f.Linux, f.Load, f.Kubernetes, f.VClusterChart, f.Helm, f.Go)
}

// proc is the first line of a file of the kernel, or that it is not known.
func proc(file string) string {
	raw, err := os.ReadFile("/proc/" + file)
	if err != nil {
		return "unknown"
	}

	first, _, _ := strings.Cut(string(raw), "\n")

	return first
}

// moduleVersion is the version of a module that a program is made of.
func moduleVersion(program, path string) string {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return "unknown"
	}

	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}

	return "unknown"
}
