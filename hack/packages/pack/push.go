// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// ErrTagTaken says that a tag names something else already.
var ErrTagTaken = errors.New("tag is taken")

// Pushed says what Push did.
type Pushed struct {
	// Digest is what the tag names now.
	Digest v1.Hash
	// Known says that the tag named it before, and nothing was sent.
	Known bool
}

// taggable is an image or an index.
type taggable interface {
	remote.Taggable
	Digest() (v1.Hash, error)
}

// Index puts the images, one an architecture, under one digest.
func Index(images ...v1.Image) (v1.ImageIndex, error) {
	adds := make([]mutate.IndexAddendum, 0, len(images))
	for _, img := range images {
		f, err := img.ConfigFile()
		if err != nil {
			return nil, fmt.Errorf("cannot index an image: %w", err)
		}
		mt, err := img.MediaType()
		if err != nil {
			return nil, fmt.Errorf("cannot index an image: %w", err)
		}
		d := v1.Descriptor{MediaType: mt, Platform: &v1.Platform{OS: f.OS, Architecture: f.Architecture}}
		adds = append(adds, mutate.IndexAddendum{Add: img, Descriptor: d})
	}
	return mutate.AppendManifests(empty.Index, adds...), nil
}

// Push pushes one image as it is and several as an index, to a reference such as
// ghcr.io/kubeopera/provider-kubeopera:v0.1.0, by the credentials that Docker's
// configuration holds. Unless overwrite says so, a tag that names something else
// stays as it is, and the error wraps ErrTagTaken.
func Push(ctx context.Context, ref string, images []v1.Image, overwrite bool) (Pushed, error) {
	tag, err := name.NewTag(ref, name.StrictValidation)
	if err != nil {
		return Pushed{}, fmt.Errorf("cannot push to %q: %w; write it as registry/path:tag, without https://", ref, err)
	}
	t, err := one(images)
	if err != nil {
		return Pushed{}, err
	}
	want, err := t.Digest()
	if err != nil {
		return Pushed{}, fmt.Errorf("cannot push %s: %w", tag, err)
	}
	opts := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	have, err := tagged(tag, opts)
	if err != nil {
		return Pushed{}, err
	}
	if have == want {
		return Pushed{Digest: want, Known: true}, nil
	}
	if have != (v1.Hash{}) && !overwrite {
		return Pushed{}, fmt.Errorf("cannot push %s as %s: %w by %s", want, tag, ErrTagTaken, have)
	}
	if err := remote.Push(tag, t, opts...); err != nil {
		return Pushed{}, fmt.Errorf("cannot push %s: %w", tag, err)
	}
	return Pushed{Digest: want}, nil
}

func one(images []v1.Image) (taggable, error) {
	if len(images) == 1 {
		return images[0], nil
	}
	return Index(images...)
}

// tagged returns the digest that the tag names, which is empty if it names none.
func tagged(tag name.Tag, opts []remote.Option) (v1.Hash, error) {
	d, err := remote.Get(tag, opts...)
	var refused *transport.Error
	if errors.As(err, &refused) && refused.StatusCode == http.StatusNotFound {
		return v1.Hash{}, nil
	}
	if err != nil {
		return v1.Hash{}, fmt.Errorf("cannot look at %s: %w", tag, err)
	}
	return d.Digest, nil
}
