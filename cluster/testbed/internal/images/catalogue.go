// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package images

import "slices"

// An Image is what is served under one or more names.
type Image struct {
	// Names are the full names that pods ask for. The node's registry serves
	// them without their host part.
	Names []string
	// Programs maps each program in the image to its path there.
	Programs map[string]string
	// Shell adds busybox with links for all of its commands, and a few files
	// that programs expect of a system.
	Shell bool
	// Entrypoint and Cmd are the image's command.
	Entrypoint []string
	Cmd        []string
}

const (
	// Pause is the image that holds a pod's namespaces.
	Pause = "registry.k8s.io/pause:3.10"
	// CoreDNS is the image of the host cluster's DNS server.
	CoreDNS = "registry.k8s.io/coredns/coredns:v1.15.0"
	// Busybox is a small image with a shell for tests.
	Busybox = "docker.io/library/busybox:1.36"
	// VCluster is the open-source image of vCluster.
	VCluster = "ghcr.io/loft-sh/vcluster-oss:0.36.1"
	// VClusterKubernetes holds the Kubernetes programs that vCluster starts.
	VClusterKubernetes = "ghcr.io/loft-sh/kubernetes:v1.36.0"

	// The tenant's DNS server, and the image by which vCluster rewrites a
	// pod's hosts file, under the names that vCluster 0.36.1 asks for.
	tenantCoreDNS = "docker.io/coredns/coredns:1.14.2"
	hostsRewriter = "mirror.gcr.io/library/alpine:3.20"
)

var catalogue = []Image{
	{
		Names:      []string{Pause},
		Programs:   map[string]string{"pause": "pause"},
		Entrypoint: []string{"/pause"},
	},
	{
		Names:      []string{CoreDNS, tenantCoreDNS},
		Programs:   map[string]string{"coredns": "coredns"},
		Entrypoint: []string{"/coredns"},
	},
	{
		Names: []string{Busybox, hostsRewriter},
		Shell: true,
		Cmd:   []string{"sh"},
	},
	{
		Names:      []string{VCluster},
		Shell:      true,
		Programs:   map[string]string{"vcluster": "vcluster"},
		Entrypoint: []string{"/vcluster", "start"},
	},
	{
		Names: []string{VClusterKubernetes},
		Shell: true,
		Programs: map[string]string{
			"kube-apiserver":          "kubernetes/kube-apiserver",
			"kube-controller-manager": "kubernetes/kube-controller-manager",
			"kine":                    "kubernetes/kine",
		},
		Cmd: []string{"sh"},
	},
}

// Catalogue returns the images that the cluster's registry serves.
func Catalogue() []Image { return slices.Clone(catalogue) }
