// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// store is a registry in memory that counts what is sent to it.
type store struct {
	host string
	sent atomic.Int64
}

func newStore(t *testing.T) *store {
	t.Helper()
	s := &store{}
	h := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.sent.Add(1)
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	s.host = strings.TrimPrefix(srv.URL, "http://")
	return s
}

func (s *store) get(t *testing.T, ref string) *remote.Descriptor {
	t.Helper()
	r, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	d, err := remote.Get(r, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestPushIndex(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ref := s.host + "/ours/provider:v1.2.3"
	images := []v1.Image{must(t, provider(t, "amd64")), must(t, provider(t, "arm64"))}
	want, err := Index(images...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Push(t.Context(), ref, images, false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Pushed{Digest: digest(t, want)}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	index, err := s.get(t, ref).ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Errorf("the whole index must be there: %v", err)
	}
	m, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	platforms := map[string]v1.Hash{}
	for _, d := range m.Manifests {
		platforms[d.Platform.String()] = d.Digest
	}
	if diff := cmp.Diff(map[string]v1.Hash{"linux/amd64": digest(t, images[0]), "linux/arm64": digest(t, images[1])}, platforms); diff != "" {
		t.Errorf("-want platforms, +got platforms:\n%s", diff)
	}
}

func TestPushAgain(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ref := s.host + "/ours/provider:v1.2.3"
	first, changed := must(t, provider(t, "amd64")), must(t, provider(t, "arm64"))
	push := func(img v1.Image, overwrite bool) (Pushed, error) {
		return Push(t.Context(), ref, []v1.Image{img}, overwrite)
	}
	if _, err := push(first, false); err != nil {
		t.Fatal(err)
	}
	sent := s.sent.Load()
	got, err := push(first, false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Pushed{Digest: digest(t, first), Known: true}, got); diff != "" {
		t.Errorf("what is there must be known: -want, +got:\n%s", diff)
	}
	_, err = push(changed, false)
	if !errors.Is(err, ErrTagTaken) || !strings.Contains(err.Error(), digest(t, first).String()) {
		t.Errorf("a version must not change, and the error say what it is: got %v", err)
	}
	if n := s.sent.Load() - sent; n != 0 {
		t.Errorf("neither may send anything, got %d requests", n)
	}
	if got := s.get(t, ref).Digest; got != digest(t, first) {
		t.Errorf("the tag must stay, got %s", got)
	}
	if _, err := push(changed, true); err != nil {
		t.Fatal(err)
	}
	img, err := s.get(t, ref).Image()
	if err != nil {
		t.Fatal(err)
	}
	if got := digest(t, img); got != digest(t, changed) {
		t.Errorf("overwriting must move the tag, got %s", got)
	}
}

func TestPushFails(t *testing.T) {
	t.Parallel()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(refusing.Close)
	host := strings.TrimPrefix(refusing.URL, "http://")

	cases := map[string]struct {
		reason string
		ref    string
		want   string
	}{
		"NoTag":     {reason: "latest is never meant", ref: host + "/ours/provider", want: "write it as registry/path:tag"},
		"Scheme":    {reason: "a reference has no scheme", ref: "https://" + host + "/ours/provider:v1.2.3", want: "without https://"},
		"Forbidden": {reason: "a tag that cannot be read is not taken to be free", ref: host + "/ours/provider:v1.2.3", want: "cannot look at " + host},
	}
	img := must(t, provider(t, "amd64"))
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Push(t.Context(), tc.ref, []v1.Image{img}, true)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: want an error that says %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
