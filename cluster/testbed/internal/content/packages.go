// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/program"
	"github.com/kubeopera/provider-kubeopera/hack/packages/pack"
)

// ownPackages holds the metadata of packages that are no one else's.
//
//go:embed packages
var ownPackages embed.FS

const (
	metaFile   = "crossplane.yaml"
	crdsFolder = "crds"
)

// A packageSource says how a Crossplane package is made.
type packageSource struct {
	// name is the full name that everyone calls the package by.
	name string
	// program is what runs in it, at path.
	program string
	path    string
	// files are its metadata, and its CRDs in the folder crds.
	files func(ctx context.Context, b *program.Builder) (fs.FS, error)
	// digest identifies what of the files does not come from a program's module.
	digest func() (string, error)
}

var packagesOfCrossplane = []packageSource{
	modulePackage("xpkg.crossplane.io/crossplane-contrib/provider-kubernetes:"+program.ProviderKubernetesVersion,
		"provider-kubernetes", program.ProviderKubernetes, "/usr/local/bin/crossplane-kubernetes-provider"),
	modulePackage("xpkg.crossplane.io/crossplane-contrib/function-auto-ready:"+program.FunctionAutoReadyVersion,
		"function-auto-ready", program.FunctionAutoReady, "/function"),
	// The test bed does not build the real one.
	ownPackage("xpkg.crossplane.io/crossplane-contrib/function-patch-and-transform:v0.9.3",
		"fake-function-patch-and-transform", "/fake-function"),
}

// modulePackage is one whose files are in the folder package of the Go module that
// its program comes from.
func modulePackage(name, definition, module, to string) packageSource {
	const folder = "package"
	return packageSource{
		name: name, program: definition, path: to,
		files: func(ctx context.Context, b *program.Builder) (fs.FS, error) {
			dir, err := b.ModuleDir(ctx, definition, module)
			if err != nil {
				return nil, err
			}
			return os.DirFS(filepath.Join(dir, folder)), nil
		},
		digest: func() (string, error) { return folder, nil },
	}
}

// ownPackage is one whose metadata is a part of this program.
func ownPackage(name, definition, to string) packageSource {
	folder := path.Join("packages", definition)
	return packageSource{
		name: name, program: definition, path: to,
		files: func(context.Context, *program.Builder) (fs.FS, error) { return fs.Sub(ownPackages, folder) },
		digest: func() (string, error) {
			b, err := ownPackages.ReadFile(path.Join(folder, metaFile))
			return string(b), err
		},
	}
}

func (s *Set) pushPackages(ctx context.Context, b *program.Builder, host string) error {
	for _, p := range s.part.packages {
		img, err := s.pack(ctx, b, p)
		if err != nil {
			return fmt.Errorf("cannot pack %q: %w", p.name, err)
		}
		if err := push(ctx, host+"/"+Path(p.name), img); err != nil {
			return err
		}
	}
	return nil
}

func (s *Set) pack(ctx context.Context, b *program.Builder, p packageSource) (v1.Image, error) {
	files, err := p.files(ctx, b)
	if err != nil {
		return nil, err
	}
	_, version, _ := strings.Cut(Path(p.name), ":")
	out := pack.Package{
		Files:   files,
		Meta:    metaFile,
		Version: version,
		Program: &pack.Program{File: s.inputs.Programs[p.program], Path: p.path, Arch: runtime.GOARCH},
	}
	if _, err := fs.Stat(files, crdsFolder); !errors.Is(err, fs.ErrNotExist) {
		out.Objects = []string{crdsFolder}
	}
	return pack.Build(ctx, out)
}
