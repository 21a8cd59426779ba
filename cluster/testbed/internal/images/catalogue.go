// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"slices"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/program"
)

// An Image is what is served under one or more names.
type Image struct {
	// Names are the full names that pods ask for. The node's registry serves
	// them without their host part.
	Names []string
	// Programs maps each program in the image to its path there.
	Programs map[string]string
	// Folders maps each folder at the root of the image to where its files come
	// from.
	Folders map[string]Folder
	// Shell adds busybox with links for all of its commands, and a few files
	// that programs expect of a system.
	Shell bool
	// User is the numeric user and group that the image runs as, root if empty.
	User string
	// Entrypoint and Cmd are the image's command.
	Entrypoint []string
	Cmd        []string
}

// A Folder is a folder of a Go module, of which the files directly in it count.
type Folder struct {
	// Program is the module definition, see program.Program, that requires the
	// Go module.
	Program string
	// Module is the Go module's path.
	Module string
	// Path is the folder in it.
	Path string
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

	// SourceController is the image of Flux's source-controller.
	SourceController = "ghcr.io/fluxcd/source-controller:" + program.FluxControllersVersion
	// KustomizeController is the image of Flux's kustomize-controller.
	KustomizeController = "ghcr.io/fluxcd/kustomize-controller:" + program.FluxControllersVersion
	// Crossplane is the image of Crossplane, under the name that its chart asks
	// for.
	Crossplane = "xpkg.crossplane.io/crossplane/crossplane:v" + program.CrossplaneVersion
	// FakeAppAdvisor stands in for a customer's App Advisor.
	FakeAppAdvisor = "ghcr.io/kubeopera/fake-app-advisor:v1"

	// The tenant's DNS server, and the image by which vCluster rewrites a
	// pod's hosts file, under the names that vCluster 0.36.1 asks for.
	tenantCoreDNS = "docker.io/coredns/coredns:1.14.2"
	hostsRewriter = "mirror.gcr.io/library/alpine:3.20"
)

const (
	// nobody is the user of images that refuse to run as root.
	nobody = "65534:65534"
	// nonroot is that of Crossplane's images.
	nonroot = "65532:65532"
)

// fluxController follows the real image: a system with a shell, not run as root.
func fluxController(image, name string) Image {
	return Image{
		Names:      []string{image},
		Shell:      true,
		User:       nobody,
		Programs:   map[string]string{name: "usr/local/bin/" + name},
		Entrypoint: []string{name},
	}
}

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
	fluxController(SourceController, "source-controller"),
	fluxController(KustomizeController, "kustomize-controller"),
	{
		Names:      []string{FakeAppAdvisor},
		User:       nobody,
		Programs:   map[string]string{"fake-app-advisor": "fake-app-advisor"},
		Entrypoint: []string{"/fake-app-advisor"},
	},
}

func crossplaneFolder(path string) Folder {
	return Folder{Program: "crossplane", Module: program.CrossplaneModule, Path: path}
}

var crossplaneCatalogue = []Image{
	{
		Names:    []string{Crossplane},
		User:     nonroot,
		Programs: map[string]string{"crossplane": "bin/crossplane"},
		Folders: map[string]Folder{
			"crds":                  crossplaneFolder("cluster/crds"),
			"webhookconfigurations": crossplaneFolder("cluster/webhookconfigurations"),
		},
		Entrypoint: []string{"/bin/crossplane"},
	},
}

// OfCluster returns the images that every cluster's registry serves.
func OfCluster() []Image { return slices.Clone(catalogue) }

// OfCrossplane returns the images that the registry of a cluster with Crossplane
// serves besides.
func OfCrossplane() []Image { return slices.Clone(crossplaneCatalogue) }
