// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/images"
)

func startRegistry(t *testing.T, folder string) string {
	t.Helper()
	host, stop, err := serve(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return host
}

func randomImage(t *testing.T) v1.Image {
	t.Helper()
	img, err := random.Image(1000, 2)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// uploads counts what is written to a registry.
type uploads struct{ posts, puts int }

func (u *uploads) RoundTrip(r *http.Request) (*http.Response, error) {
	switch r.Method {
	case http.MethodPost:
		u.posts++
	case http.MethodPut:
		u.puts++
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestCopyTo(t *testing.T) {
	t.Parallel()
	img := randomImage(t)
	s := &Set{
		part:   Part{images: []images.Image{{Names: []string{"example.org/some/where:1"}}}, charts: []chartSource{{reference: "charts/a:1"}}},
		folder: filepath.Join(t.TempDir(), "set"),
	}
	for _, ref := range s.part.References() {
		if err := push(t.Context(), startRegistry(t, s.folder)+"/"+ref, img); err != nil {
			t.Fatal(err)
		}
	}

	host := startRegistry(t, t.TempDir())
	if err := s.CopyTo(t.Context(), host, http.DefaultTransport); err != nil {
		t.Fatal(err)
	}
	want, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.part.References() {
		ref, err := name.ParseReference(host + "/" + r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := remote.Image(ref)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate.Image(got); err != nil {
			t.Errorf("%q: %v", r, err)
		}
		if h, err := got.Digest(); err != nil || h != want {
			t.Errorf("%q has digest %s, %v, want %s", r, h, err, want)
		}
	}

	var again uploads
	if err := s.CopyTo(t.Context(), host, &again); err != nil {
		t.Fatal(err)
	}
	if again.posts > 0 {
		t.Errorf("%d blobs are sent again", again.posts)
	}
}

func TestCopyToFails(t *testing.T) {
	t.Parallel()
	s := &Set{part: Part{charts: []chartSource{{reference: "charts/a:1"}}}, folder: t.TempDir()}
	err := s.CopyTo(t.Context(), startRegistry(t, t.TempDir()), http.DefaultTransport)
	if err == nil || !strings.Contains(err.Error(), "charts/a:1") {
		t.Errorf("CopyTo(...) of what is not there = %v, want an error that names it", err)
	}
}
