// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"context"
	"embed"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/images"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/program"
	"github.com/kubeopera/provider-kubeopera/hack/packages/pack"
)

// packages holds the metadata of packages that are no one else's.
//
//go:embed packages
var packages embed.FS

const (
	metaFile   = "crossplane.yaml"
	crdsFolder = "crds"
)

// A packageSource says how a Crossplane package is made.
type packageSource struct {
	// Name is the full name that everyone calls the package by.
	Name string
	// Program is what runs in it, at Path.
	Program string
	Path    string
	// Folder holds its metadata, and its CRDs in the folder crds.
	Folder images.Folder
	// Meta is the metadata of a package without a Folder.
	Meta string
}

var packagesOfCrossplane = []packageSource{
	{
		Name:    "xpkg.crossplane.io/crossplane-contrib/provider-kubernetes:" + program.ProviderKubernetesVersion,
		Program: "provider-kubernetes", Path: "/usr/local/bin/crossplane-kubernetes-provider",
		Folder: images.Folder{Program: "provider-kubernetes", Module: program.ProviderKubernetes, Path: "package"},
	},
	{
		Name:    "xpkg.crossplane.io/crossplane-contrib/function-auto-ready:" + program.FunctionAutoReadyVersion,
		Program: "function-auto-ready", Path: "/function",
		Folder: images.Folder{Program: "function-auto-ready", Module: program.FunctionAutoReady, Path: "package"},
	},
	{
		// The real one cannot be had.
		Name:    "xpkg.crossplane.io/crossplane-contrib/function-patch-and-transform:v0.9.3",
		Program: "fake-function-patch-and-transform", Path: "/fake-function",
		Meta: embedded("fake-function-patch-and-transform"),
	},
}

func embedded(name string) string {
	b, err := packages.ReadFile(path.Join("packages", name, metaFile))
	if err != nil {
		panic(err) // The file is a part of this program.
	}
	return string(b)
}

func (s *Set) pushPackages(ctx context.Context, b *program.Builder, host string) error {
	for _, p := range s.part.packages {
		img, err := s.pack(ctx, b, p)
		if err != nil {
			return fmt.Errorf("cannot pack %q: %w", p.Name, err)
		}
		if err := push(ctx, host+"/"+Path(p.Name), img); err != nil {
			return err
		}
	}
	return nil
}

func (s *Set) pack(ctx context.Context, b *program.Builder, p packageSource) (v1.Image, error) {
	folder, remove, err := p.files(ctx, b)
	if err != nil {
		return nil, err
	}
	defer remove()
	_, version, _ := strings.Cut(Path(p.Name), ":")
	out := pack.Package{
		Meta:    filepath.Join(folder, metaFile),
		Version: version,
		Program: &pack.Program{File: s.inputs.Programs[p.Program], Path: p.Path, Arch: runtime.GOARCH},
	}
	if crds := filepath.Join(folder, crdsFolder); exists(crds) {
		out.Objects = []string{crds}
	}
	return pack.Build(ctx, out)
}

// files returns the folder of the package's files, and removes what of it is
// temporary when it is told to.
func (p packageSource) files(ctx context.Context, b *program.Builder) (folder string, remove func(), err error) {
	if p.Meta == "" {
		dir, err := b.ModuleDir(ctx, p.Folder.Program, p.Folder.Module)
		return filepath.Join(dir, p.Folder.Path), func() {}, err
	}
	if folder, err = os.MkdirTemp("", "package-"); err != nil {
		return "", nil, fmt.Errorf("cannot make folder for metadata: %w", err)
	}
	remove = func() { _ = os.RemoveAll(folder) }
	if err := os.WriteFile(filepath.Join(folder, metaFile), []byte(p.Meta), 0o600); err != nil {
		remove()
		return "", nil, fmt.Errorf("cannot write metadata: %w", err)
	}
	return folder, remove, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
