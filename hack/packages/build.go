// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"text/tabwriter"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubeopera/provider-kubeopera/hack/packages/pack"
)

// Run makes all packages and writes their digests as a table.
func (c buildCmd) Run(ctx context.Context, j job) error {
	if err := os.MkdirAll(c.Output, 0o750); err != nil {
		return fmt.Errorf("cannot make folder of packages: %w", err)
	}
	t := tabwriter.NewWriter(j.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tARCH\tDIGEST")
	for _, e := range j.packages {
		if err := c.one(ctx, e, t, j.stderr); err != nil {
			return err
		}
	}
	return t.Flush()
}

func (c buildCmd) one(ctx context.Context, e entry, table, stderr io.Writer) error {
	var images []v1.Image
	for _, arch := range e.archs(c.Arch) {
		fmt.Fprintln(stderr, "==> building", e.name, c.Version, orAny(arch))
		p, err := e.program(ctx, c, arch)
		if err != nil {
			return err
		}
		img, err := pack.Build(ctx, e.source(os.DirFS("."), c.Version, p))
		if err != nil {
			return err
		}
		if err := pack.Save(e.file(c.Output, c.Version, arch), img); err != nil {
			return err
		}
		if err := row(table, e.name, orAny(arch), img); err != nil {
			return err
		}
		images = append(images, img)
	}
	if len(images) == 1 {
		return nil
	}
	index, err := pack.Index(images...)
	if err != nil {
		return err
	}
	return row(table, e.name, "index", index)
}

// source is what the package is made of, given the repository's files.
func (e entry) source(root fs.FS, version string, p *pack.Program) pack.Package {
	return pack.Package{Files: root, Meta: e.meta, Objects: e.objects, Version: version, Siblings: siblings, Program: p}
}

// program compiles what runs in the package, if anything does. Go keeps a program
// that is up to date.
func (e entry) program(ctx context.Context, c buildCmd, arch string) (*pack.Program, error) {
	if e.command == "" {
		return nil, nil
	}
	file, err := filepath.Abs(filepath.Join(c.Output, "programs", e.name+"-"+arch))
	if err != nil {
		return nil, err
	}
	if err := compile(ctx, e.command, file, arch, c.Version); err != nil {
		return nil, err
	}
	return &pack.Program{File: file, Path: e.path, Arch: arch}, nil
}

func row(w io.Writer, name, arch string, of interface{ Digest() (v1.Hash, error) }) error {
	d, err := of.Digest()
	if err != nil {
		return fmt.Errorf("cannot compute the digest of %s: %w", name, err)
	}
	_, err = fmt.Fprintf(w, "%s\t%s\t%s\n", name, arch, d)
	return err
}

func orAny(arch string) string {
	if arch == "" {
		return "any"
	}
	return arch
}
