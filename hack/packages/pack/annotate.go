// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// annotate gives layers the annotations that the image's labels say they have,
// by which Crossplane finds the YAML without fetching the program. It is
// xpkg.AnnotateLayers but for the media types, which are OCI's: Docker's have no
// annotations, and not every registry takes them.
func annotate(img v1.Image) (v1.Image, error) {
	f, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	layers, err := img.Layers()
	if err != nil {
		return nil, err
	}
	adds := make([]mutate.Addendum, 0, len(layers))
	for _, l := range layers {
		d, err := l.Digest()
		if err != nil {
			return nil, err
		}
		add := mutate.Addendum{Layer: l, MediaType: types.OCILayer}
		if v, ok := f.Config.Labels[xpkg.Label(d.String())]; ok {
			add.Annotations = map[string]string{xpkg.AnnotationKey: v}
		}
		adds = append(adds, add)
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	out, err := mutate.Append(base, adds...)
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(out, f)
}
