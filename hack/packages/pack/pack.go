// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package pack makes Crossplane packages from files, checks them and pushes
// them to registries. It needs no container engine, and equal inputs give equal
// digests.
package pack

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg"
	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg/parser"
	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg/parser/examples"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// A Package says what a Crossplane package is made of.
type Package struct {
	// Files holds the metadata and the objects.
	Files fs.FS
	// Meta is the path of the metadata, a file crossplane.yaml.
	Meta string
	// Objects are the paths of what the package brings, such as a provider's
	// CRDs: files of YAML, and folders of which each .yaml and .yml file counts
	// but for Meta.
	Objects []string
	// Version is the version of the package, such as v0.1.0. Dependencies on
	// siblings are on exactly this one.
	Version string
	// Siblings is the repository path, without a slash at its end, below which
	// all packages are built together and have one version. Empty for none.
	Siblings string
	// Program is what runs in the package's image. Nil for none.
	Program *Program
}

// Build makes the package's image, with the annotations of its layers. An error
// names the file that is wrong and says what to do.
func Build(ctx context.Context, p Package) (v1.Image, error) {
	s, err := newSchemes()
	if err != nil {
		return nil, err
	}
	src, err := s.source(p)
	if err != nil {
		return nil, err
	}
	if err := lint(src); err != nil {
		return nil, err
	}
	img, err := image(p, src.meta)
	if err != nil {
		return nil, fmt.Errorf("cannot make the image of %s: %w", p.Meta, err)
	}
	img, err = s.build(ctx, src.stream(), img)
	if err != nil {
		return nil, fmt.Errorf("cannot build the package of %s: %w", p.Meta, err)
	}
	return img, nil
}

// build puts the stream of YAML on the image of the program.
func (s schemes) build(ctx context.Context, stream []byte, base v1.Image) (v1.Image, error) {
	b := xpkg.New(parser.NewEchoBackend(string(stream)), noExamples{}, parser.New(s.metas, s.objects), examples.New())
	img, _, err := b.Build(ctx, xpkg.WithBase(base))
	if err != nil {
		return nil, err
	}
	return annotate(img)
}

// image is what lies below the package's YAML. Without a program it is empty and
// for any architecture.
func image(p Package, m document) (v1.Image, error) {
	l, err := labels(m, p.Version)
	if err != nil {
		return nil, err
	}
	if p.Program == nil {
		return mutate.Config(empty.Image, v1.Config{Labels: l})
	}
	return p.Program.image(l)
}

// noExamples says that a package has no examples, as a file system does in which
// their folder is missing.
type noExamples struct{}

// Init returns an error that wraps fs.ErrNotExist.
func (noExamples) Init(context.Context, ...parser.BackendOption) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(nil)), fs.ErrNotExist
}
