// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
)

const (
	// FluxVersion is the version of the community's flux2 chart that is stood in
	// for, the one of Flux's minor version 2.9.
	FluxVersion = "2.19.0"
	// fluxAppVersion is the Flux that it says it is.
	fluxAppVersion = "2.9.0"
)

// flux2 is the chart without the controllers' manifests.
//
//go:embed all:flux2
var flux2 embed.FS

// manifests maps a pattern in a controller's module to the folder of the chart,
// below manifests/NAME, that the files go to.
var manifests = map[string]string{
	"config/manager/deployment.yaml":        "manager",
	"config/manager/service.yaml":           "manager",
	"config/rbac/role.yaml":                 "rbac",
	"config/rbac/leader_election_role.yaml": "rbac",
	"config/crd/bases/*.yaml":               "crd",
}

// PackFlux packs the Flux chart with the manifests of the controllers, as a .tgz
// in dest, and returns its path. It takes the folder of each controller's Go
// module by the controller's name.
func PackFlux(modules map[string]string, dest string) (string, error) {
	files, err := fluxFiles()
	if err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		found, err := moduleFiles(name, modules[name])
		if err != nil {
			return "", err
		}
		files = append(files, found...)
	}
	c, err := loader.LoadFiles(files)
	if err != nil {
		return "", fmt.Errorf("cannot load Flux chart: %w", err)
	}
	return save(c, FluxVersion, fluxAppVersion, dest)
}

// FluxDigest identifies the chart without the controllers' manifests.
func FluxDigest() (string, error) {
	files, err := fluxFiles()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %s\n", FluxVersion, fluxAppVersion)
	for _, f := range files {
		fmt.Fprintf(h, "%q %q\n", f.Name, f.Data)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// fluxFiles returns the files of the embedded chart, in the order of their names.
func fluxFiles() ([]*loader.BufferedFile, error) {
	var out []*loader.BufferedFile
	err := fs.WalkDir(flux2, ".", func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := flux2.ReadFile(file)
		out = append(out, &loader.BufferedFile{Name: strings.TrimPrefix(file, "flux2/"), Data: b})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read Flux chart: %w", err)
	}
	return out, nil
}

// moduleFiles returns the controller's manifests under their names in the chart.
func moduleFiles(name, module string) ([]*loader.BufferedFile, error) {
	var out []*loader.BufferedFile
	for _, pattern := range slices.Sorted(maps.Keys(manifests)) {
		found, err := filepath.Glob(filepath.Join(module, pattern))
		if err != nil {
			return nil, fmt.Errorf("cannot look for manifests of %s: %w", name, err)
		}
		// Only one of the controllers has a Service.
		if len(found) == 0 && path.Base(pattern) != "service.yaml" {
			return nil, fmt.Errorf("cannot find manifests of %s: there is no %s in %s", name, pattern, module)
		}
		for _, file := range found {
			b, err := os.ReadFile(file)
			if err != nil {
				return nil, fmt.Errorf("cannot read manifest of %s: %w", name, err)
			}
			out = append(out, &loader.BufferedFile{Name: path.Join("manifests", name, manifests[pattern], filepath.Base(file)), Data: b})
		}
	}
	return out, nil
}
