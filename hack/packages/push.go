// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubeopera/provider-kubeopera/hack/packages/pack"
)

// Run pushes all packages, each after those that it depends on.
func (c pushCmd) Run(ctx context.Context, j job) error {
	for _, e := range j.packages {
		images, err := c.load(e)
		if err != nil {
			return err
		}
		ref := fmt.Sprintf("%s/%s:%s", strings.TrimSuffix(c.Registry, "/"), e.name, c.Version)
		p, err := pack.Push(ctx, ref, images, c.Overwrite)
		if errors.Is(err, pack.ErrTagTaken) {
			return fmt.Errorf("%w; give what has changed another --version, or say --overwrite if nobody uses that one", err)
		}
		if err != nil {
			return err
		}
		done := "pushed"
		if p.Known {
			done = "is there already"
		}
		fmt.Fprintln(j.stdout, "==>", ref, p.Digest, done)
	}
	return nil
}

func (c pushCmd) load(e entry) ([]v1.Image, error) {
	var out []v1.Image
	for _, arch := range e.archs(c.Arch) {
		img, err := pack.Load(e.file(c.Input, c.Version, arch))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w; run make packages VERSION=%s first", err, c.Version)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, img)
	}
	return out, nil
}
