// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubeopera/provider-kubeopera/hack/packages/pack"
)

// push pushes all packages, each after those that it depends on.
func push(ctx context.Context, c pushCmd, all []entry, stdout io.Writer) error {
	for _, e := range all {
		images, err := load(c, e)
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
		fmt.Fprintln(stdout, "==>", ref, p.Digest, done)
	}
	return nil
}

func load(c pushCmd, e entry) ([]v1.Image, error) {
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
