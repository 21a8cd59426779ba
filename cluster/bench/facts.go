// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"k8s.io/client-go/discovery"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// readFacts says in a few lines on what is measured.
func readFacts(c *rig.Cluster) (string, error) {
	d, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		return "", fmt.Errorf("cannot make a discovery client: %w", err)
	}

	server, err := d.ServerVersion()
	if err != nil {
		return "", fmt.Errorf("cannot ask for the cluster's version: %w", err)
	}

	return fmt.Sprintf("machine: %d cores, Linux %s, load %s\nversions: Kubernetes %s, vCluster chart %s, Helm %s, %s",
		runtime.NumCPU(), proc("sys/kernel/osrelease"), proc("loadavg"),
		server.GitVersion, rig.ChartVersion, moduleVersion("helm.sh/helm/v3"), runtime.Version()), nil
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

// moduleVersion is the version of a module that this program is made of.
func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}

	for _, m := range info.Deps {
		if m.Path == path {
			return m.Version
		}
	}

	return "unknown"
}
