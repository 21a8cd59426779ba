// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	helmregistry "helm.sh/helm/v3/pkg/registry"
)

// Pull returns the packed chart at the reference, such as
// 10.89.0.1:5000/charts/x:1.0.0, from the registry that the transport reaches.
func Pull(ctx context.Context, reference string, t http.RoundTripper) ([]byte, error) {
	ref, err := name.ParseReference(reference)
	if err != nil {
		return nil, fmt.Errorf("cannot parse chart reference: %w", err)
	}
	img, err := remote.Image(ref, remote.WithContext(ctx), remote.WithTransport(t))
	if err != nil {
		return nil, fmt.Errorf("cannot pull chart %q: %w", reference, err)
	}
	layers, err := img.Layers()
	if err != nil {
		return nil, fmt.Errorf("cannot read chart %q: %w", reference, err)
	}
	for _, l := range layers {
		if kind, err := l.MediaType(); err != nil || kind != helmregistry.ChartLayerMediaType {
			continue
		}
		r, err := l.Compressed()
		if err != nil {
			return nil, fmt.Errorf("cannot pull chart %q: %w", reference, err)
		}
		defer func() { _ = r.Close() }()
		return io.ReadAll(r)
	}
	return nil, fmt.Errorf("cannot read chart %q: it has no layer of type %q", reference, helmregistry.ChartLayerMediaType)
}
