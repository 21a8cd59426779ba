// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/chart"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/images"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/program"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/registry"
)

// serve serves the folder as a registry, on a port of its own, until ctx ends or
// stop is called. It returns the registry's host and port.
func serve(ctx context.Context, folder string) (host string, stop func(), err error) {
	h, err := registry.New(log.New(io.Discard, "", 0), folder)
	if err != nil {
		return "", nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("cannot listen: %w", err)
	}
	ctx, stop = context.WithCancel(ctx)
	go func() { _ = registry.Serve(ctx, l, h) }()
	return l.Addr().String(), stop, nil
}

// CopyTo pushes all of the Set, which must be made, to the registry at the host
// and port, which is reached through the transport. What that registry has
// already is not sent again.
func (s *Set) CopyTo(ctx context.Context, host string, t http.RoundTripper) error {
	from, stop, err := serve(ctx, s.folder)
	if err != nil {
		return err
	}
	defer stop()
	for _, r := range s.part.References() {
		source, err := name.ParseReference(from + "/" + r)
		if err != nil {
			return fmt.Errorf("cannot parse reference %q: %w", r, err)
		}
		img, err := remote.Image(source, remote.WithContext(ctx))
		if err != nil {
			return fmt.Errorf("cannot read %q from the cache: %w", r, err)
		}
		if err := push(ctx, host+"/"+r, img, remote.WithTransport(t)); err != nil {
			return err
		}
	}
	return nil
}

func push(ctx context.Context, reference string, img v1.Image, opts ...remote.Option) error {
	ref, err := name.ParseReference(reference)
	if err != nil {
		return fmt.Errorf("cannot parse reference %q: %w", reference, err)
	}
	if err := remote.Write(ref, img, append(opts, remote.WithContext(ctx))...); err != nil {
		return fmt.Errorf("cannot store %q: %w", reference, err)
	}
	return nil
}

func (s *Set) pushImages(ctx context.Context, b *program.Builder, host string) error {
	for _, img := range s.part.images {
		for _, f := range img.Folders {
			dir, err := b.ModuleDir(ctx, f.Program, f.Module)
			if err != nil {
				return err
			}
			s.inputs.Modules[f.Module] = dir
		}
		built, err := images.Build(img, s.inputs)
		if err != nil {
			return err
		}
		for _, n := range img.Names {
			if err := push(ctx, host+"/"+Path(n), built); err != nil {
				return err
			}
		}
	}
	return nil
}

func pushCharts(ctx context.Context, b *program.Builder, charts []chartSource, host string) error {
	temp, err := os.MkdirTemp("", "charts-")
	if err != nil {
		return fmt.Errorf("cannot make folder for charts: %w", err)
	}
	defer func() { _ = os.RemoveAll(temp) }()
	for _, c := range charts {
		file, err := c.pack(ctx, b, temp)
		if err != nil {
			return err
		}
		if err := chart.Push(file, host+"/"+c.reference); err != nil {
			return err
		}
	}
	return nil
}
