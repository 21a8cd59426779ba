// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package content fills a folder of the cache with what the cluster's registry
// serves: images, charts and Crossplane packages.
package content

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/images"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/program"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/step"
)

// format changes when the same inputs are to give another content.
const format = "2"

// A Set is a Part made of one set of inputs.
type Set struct {
	part   Part
	inputs images.Inputs
	folder string
}

// New returns the Set of the part, for the built programs, by name, and the
// busybox executable. It does not make it yet.
func New(ctx context.Context, cache string, part Part, programs map[string]string, busybox string) (*Set, error) {
	applets, err := images.Applets(ctx, busybox)
	if err != nil {
		return nil, err
	}
	in := images.Inputs{Programs: programs, Busybox: busybox, Applets: applets, Modules: map[string]string{}}
	key, err := key(part, in)
	if err != nil {
		return nil, err
	}
	return &Set{part: part, inputs: in, folder: filepath.Join(cache, "content", key)}, nil
}

// key depends on the programs' paths in the cache, which hold their own keys,
// on busybox itself and on what the images, charts and packages are to be. The
// modules that they come from are those of the programs.
func key(part Part, in images.Inputs) (string, error) {
	busybox, err := os.ReadFile(in.Busybox)
	if err != nil {
		return "", fmt.Errorf("cannot read busybox: %w", err)
	}
	catalogue, err := json.Marshal(part.images)
	if err != nil {
		return "", fmt.Errorf("cannot encode catalogue: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %x\n", format, catalogue, sha256.Sum256(busybox))
	for _, c := range part.charts {
		digest, err := c.digest()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %s\n", c.reference, digest)
	}
	for _, p := range part.packages {
		digest, err := p.digest()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s %s %s %q\n", p.name, p.program, p.path, digest)
	}
	for _, n := range slices.Sorted(maps.Keys(in.Programs)) {
		fmt.Fprintf(h, "%s %s\n", n, filepath.Base(filepath.Dir(in.Programs[n])))
	}
	return hex.EncodeToString(h.Sum(nil))[:12], nil
}

// Folder is what the registry serves once the Set is made.
func (s *Set) Folder() string { return s.folder }

// Made says whether the Set lies in the cache.
func (s *Set) Made() (bool, error) {
	_, err := os.Stat(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Make makes the Set unless the cache has it. The caller holds the cache's lock.
func (s *Set) Make(ctx context.Context, b *program.Builder, out *step.Log) error {
	made, err := s.Made()
	if err != nil || made {
		return err
	}
	temp := s.folder + ".part"
	if err := os.RemoveAll(temp); err != nil {
		return fmt.Errorf("cannot clear interrupted content: %w", err)
	}
	host, stop, err := serve(ctx, temp)
	if err != nil {
		return err
	}
	defer stop()
	if err := out.Do("pack images of "+s.part.name, func() error { return s.pushImages(ctx, b, host) }); err != nil {
		return err
	}
	if err := out.Do("pack charts of "+s.part.name, func() error { return pushCharts(ctx, b, s.part.charts, host) }); err != nil {
		return err
	}
	if len(s.part.packages) > 0 {
		if err := out.Do("pack packages of "+s.part.name, func() error { return s.pushPackages(ctx, b, host) }); err != nil {
			return err
		}
	}
	if err := os.Rename(temp, s.folder); err != nil {
		return fmt.Errorf("cannot put content into the cache: %w", err)
	}
	return nil
}
