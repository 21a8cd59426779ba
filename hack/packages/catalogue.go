// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "path/filepath"

// siblings is where the packages say that the others are. ImageConfigs lead to
// other registries, so that a digest does not depend on where it is pushed.
const siblings = "ghcr.io/kubeopera"

// entry is one of the packages.
type entry struct {
	// name is the last part of its repository, and its metadata.name.
	name string
	// meta and objects are its files, relative to the repository's root.
	meta    string
	objects []string
	// command is the Go package of its program, empty for none, and path is where
	// the program lies in the image.
	command, path string
}

// catalogue holds each package after those that it depends on.
var catalogue = []entry{
	{
		name: "provider-kubeopera", meta: "package/provider/crossplane.yaml", objects: []string{"package/crds"},
		command: "./cmd/provider", path: "/provider",
	},
	{
		name: "function-cloudspace", meta: "package/function/crossplane.yaml",
		command: "./cmd/function-cloudspace", path: "/function",
	},
	{
		name: "configuration-cloudspace", meta: "package/configuration/cloudspace/crossplane.yaml",
		objects: []string{"package/configuration/cloudspace"},
	},
	{
		name: "configuration-cloudspace-claims", meta: "package/configuration/cloudspace-claims/crossplane.yaml",
		objects: []string{"package/configuration/cloudspace-claims"},
	},
}

// archs are the architectures of the package, with one empty for a package that
// is the same on all.
func (e entry) archs(all []string) []string {
	if e.command == "" {
		return []string{""}
	}
	return all
}

// file is where the package is built to.
func (e entry) file(folder, version, arch string) string {
	base := e.name + "-" + version
	if arch != "" {
		base += "-" + arch
	}
	return filepath.Join(folder, base+".xpkg")
}
