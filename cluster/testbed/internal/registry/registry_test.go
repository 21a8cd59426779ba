// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"io"
	"io/fs"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// start starts a registry on the folders and returns its host.
func start(t *testing.T, folder string, shared ...string) string {
	t.Helper()
	h, err := New(log.New(io.Discard, "", 0), folder, shared...)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func push(t *testing.T, reference string) v1.Hash {
	t.Helper()
	img, err := random.Image(1000, 2)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, img); err != nil {
		t.Fatal(err)
	}
	h, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// pull reads the whole image and returns its digest.
func pull(t *testing.T, reference string) v1.Hash {
	t.Helper()
	ref, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	img, err := remote.Image(ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(img); err != nil {
		t.Fatal(err)
	}
	h, err := img.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func listing(t *testing.T, folder string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		out = append(out, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestContentOutlivesTheRegistry(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	want := push(t, start(t, folder)+"/some/where:1")
	if got := pull(t, start(t, folder)+"/some/where:1"); got != want {
		t.Errorf("digest is %s after a restart, was %s", got, want)
	}
}

func TestIndexOutlivesTheRegistry(t *testing.T) {
	t.Parallel()
	idx, err := random.Index(1000, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	// A tag that comes before "sha256" and one that comes after it.
	for _, tag := range []string{"1", "v1"} {
		ref, err := name.ParseReference(start(t, folder) + "/some/where:" + tag)
		if err != nil {
			t.Fatal(err)
		}
		if err := remote.WriteIndex(ref, idx); err != nil {
			t.Fatal(err)
		}
	}
	host := start(t, folder)
	for _, tag := range []string{"1", "v1"} {
		ref, err := name.ParseReference(host + "/some/where:" + tag)
		if err != nil {
			t.Fatal(err)
		}
		got, err := remote.Index(ref)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate.Index(got); err != nil {
			t.Errorf("index %q after a restart: %v", tag, err)
		}
	}
}

func TestSharedContent(t *testing.T) {
	t.Parallel()
	shared, folder := t.TempDir(), t.TempDir()
	first := start(t, shared)
	kept, covered := push(t, first+"/kept:1"), push(t, first+"/covered:1")
	before := listing(t, shared)

	host := start(t, folder, shared)
	if got := pull(t, host+"/kept:1"); got != kept {
		t.Errorf("shared image has digest %s, want %s", got, kept)
	}
	own := push(t, host+"/covered:1")
	for _, h := range []string{host, start(t, folder, shared)} {
		if got := pull(t, h+"/covered:1"); got != own || got == covered {
			t.Errorf("covered image has digest %s, want %s", got, own)
		}
	}
	if diff := cmp.Diff(before, listing(t, shared)); diff != "" {
		t.Errorf("a push changed the shared folder: -before +after:\n%s", diff)
	}
}

func TestUnknownContent(t *testing.T) {
	t.Parallel()
	ref, err := name.ParseReference(start(t, t.TempDir()) + "/nosuch:1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := remote.Head(ref); err == nil {
		t.Error("an image that nobody pushed is there")
	}
}

func TestBrokenManifest(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "manifests"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "manifests", "half"), []byte(`{"path":"/v2/x`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := New(log.New(io.Discard, "", 0), folder); err == nil || !strings.Contains(err.Error(), `"half"`) {
		t.Errorf("New(...) = %v, want an error that names the file", err)
	}
}
