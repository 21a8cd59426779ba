// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package program builds the programs of the cluster from their Go modules,
// once, and keeps the results in a cache that every run shares.
package program

import (
	"fmt"
	"slices"
)

// A Program is one executable and how it is built. Everything in it but Name
// changes the key under which the result is cached.
type Program struct {
	// Name is the executable's name, unique in the table.
	Name string
	// Module is the folder under modules/ that defines the Go module in which
	// the program is built.
	Module string
	// Package is the main package, "." for the module's own main.go.
	Package string
	// Version is what people call this build, such as "v1.36.3".
	Version string
	// LDFlags and Tags go to the Go linker and compiler.
	LDFlags string
	Tags    string
	// CGO says that the program needs C code; it is then linked statically.
	CGO bool
}

const (
	kubernetesVersion = "v1.36.3"
	strip             = "-s -w"
	versionPackage    = "k8s.io/component-base/version"

	// VClusterModule is the Go module of vCluster, which also holds its chart.
	VClusterModule = "github.com/loft-sh/vcluster"
	// VClusterVersion is the version of vCluster, its chart and its image.
	VClusterVersion = "0.36.1"

	// SourceController is the Go module of Flux's source-controller, which also
	// holds its manifests.
	SourceController = "github.com/fluxcd/source-controller"
	// KustomizeController is that of Flux's kustomize-controller.
	KustomizeController = "github.com/fluxcd/kustomize-controller"
	// FluxControllersVersion is the version of both controllers and their images.
	FluxControllersVersion = "v1.9.6"

	// CrossplaneModule is the Go module of Crossplane, which also holds its chart
	// and what its image has besides the program.
	CrossplaneModule = "github.com/crossplane/crossplane/v2"
	// CrossplaneVersion is the version of Crossplane and its chart.
	CrossplaneVersion = "2.4.0"

	// ProviderKubernetes is the Go module of provider-kubernetes, which also holds
	// its CRDs.
	ProviderKubernetes = "github.com/crossplane-contrib/provider-kubernetes"
	// ProviderKubernetesVersion is the version of that provider and its package.
	ProviderKubernetesVersion = "v1.2.0"
	// FunctionAutoReady is the path that function-auto-ready's Go module gives
	// itself. It is downloaded from crossplane-contrib.
	FunctionAutoReady = "github.com/crossplane/function-auto-ready"
	// FunctionAutoReadyVersion is the version of that function and its package.
	FunctionAutoReadyVersion = "v0.6.0"
)

// The API server's clients refuse a server that does not know its version, and
// a Go build outside the release scripts does not set it.
var kubernetesLDFlags = fmt.Sprintf("%s -X %s.gitVersion=%s -X %s.gitMajor=1 -X %s.gitMinor=36",
	strip, versionPackage, kubernetesVersion, versionPackage, versionPackage)

func kubernetes(name string) Program {
	return Program{
		Name:    name,
		Module:  "kubernetes",
		Package: "k8s.io/kubernetes/cmd/" + name,
		Version: kubernetesVersion,
		LDFlags: kubernetesLDFlags,
	}
}

func fluxController(name, module string) Program {
	return Program{Name: name, Module: name, Package: module, Version: FluxControllersVersion, LDFlags: strip}
}

// crossplaneTable holds what only a cluster with Crossplane needs.
var crossplaneTable = []Program{
	{
		Name: "crossplane", Module: "crossplane", Package: CrossplaneModule + "/cmd/crossplane", Version: "v" + CrossplaneVersion,
		// Without a version Crossplane takes every package for one that does not
		// fit it.
		LDFlags: strip + " -X github.com/crossplane/crossplane-runtime/v2/pkg/version.version=v" + CrossplaneVersion,
	},
	{
		Name: "provider-kubernetes", Module: "provider-kubernetes", Package: ProviderKubernetes + "/cmd/provider", Version: ProviderKubernetesVersion,
		LDFlags: strip + " -X " + ProviderKubernetes + "/internal/version.Version=" + ProviderKubernetesVersion,
	},
	{Name: "function-auto-ready", Module: "function-auto-ready", Package: FunctionAutoReady, Version: FunctionAutoReadyVersion, LDFlags: strip},
	{Name: "fake-function-patch-and-transform", Module: "fake-function-patch-and-transform", Package: ".", Version: "v1", LDFlags: strip},
}

// benchTable holds what only the benchmark of many Tenants needs.
var benchTable = []Program{
	{Name: "kwok", Module: "kwok", Package: "sigs.k8s.io/kwok/cmd/kwok", Version: "v0.8.0", LDFlags: strip},
}

var table = []Program{
	kubernetes("kube-apiserver"),
	kubernetes("kube-controller-manager"),
	kubernetes("kube-scheduler"),
	kubernetes("kubelet"),
	kubernetes("kube-proxy"),
	kubernetes("kubectl"),
	{Name: "kube-network-policies", Module: "kube-network-policies", Package: ".", Version: "v0.8.0", LDFlags: strip},
	{Name: "etcd", Module: "etcd", Package: ".", Version: "v3.6.13", LDFlags: strip},
	{Name: "coredns", Module: "coredns", Package: "github.com/coredns/coredns", Version: "v1.15.0", LDFlags: strip},
	{
		Name: "kine", Module: "kine", Package: "github.com/k3s-io/kine", Version: "v0.17.5",
		Tags:    "netgo osusergo sqlite_omit_load_extension",
		LDFlags: strip + " -linkmode external -extldflags -static",
		CGO:     true,
	},
	{
		Name: "vcluster", Module: "vcluster", Package: VClusterModule + "/cmd/vcluster", Version: "v" + VClusterVersion,
		// The version "dev" turns telemetry off.
		LDFlags: strip + " -X " + VClusterModule + "/pkg/telemetry.SyncerVersion=dev",
	},
	fluxController("source-controller", SourceController),
	fluxController("kustomize-controller", KustomizeController),
	{Name: "pause", Module: "pause", Package: ".", Version: "v3.10", LDFlags: strip},
	{Name: "fake-app-advisor", Module: "fake-app-advisor", Package: ".", Version: "v1", LDFlags: strip},
}

// OfCluster returns every program of a plain cluster, in the order in which they
// are built.
func OfCluster() []Program { return slices.Clone(table) }

// OfCrossplane returns the programs that a cluster with Crossplane has besides,
// in the order in which they are built.
func OfCrossplane() []Program { return slices.Clone(crossplaneTable) }

// All returns every program, in the order in which they are built.
func All() []Program { return slices.Concat(table, crossplaneTable, benchTable) }

// Named returns the programs with these names, in the order in which they are
// built. It fails on a name that no table has.
func Named(names ...string) ([]Program, error) {
	var out []Program
	all := All()
	for _, p := range all {
		if slices.Contains(names, p.Name) {
			out = append(out, p)
		}
	}
	for _, n := range names {
		if !slices.ContainsFunc(all, func(p Program) bool { return p.Name == n }) {
			return nil, fmt.Errorf("cannot find program %q in the tables", n)
		}
	}
	return out, nil
}
