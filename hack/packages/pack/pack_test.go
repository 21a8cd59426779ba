// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"archive/tar"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// must builds the package.
func must(t *testing.T, p Package) v1.Image {
	t.Helper()
	img, err := Build(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func digest(t *testing.T, of interface{ Digest() (v1.Hash, error) }) v1.Hash {
	t.Helper()
	d, err := of.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// documents are the kinds and names in the package that Crossplane reads.
func documents(t *testing.T, img v1.Image) []string {
	t.Helper()
	rc, err := xpkg.ExtractPackageYAML(img)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rc.Close() }()
	b, err := io.ReadAll(rc)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := split(fstest.MapFS{"package.yaml": {Data: b}}, "package.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSchemes()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range docs {
		o, err := decode(s.metas, d)
		if err != nil {
			o, err = decode(s.objects, d)
		}
		if err != nil {
			t.Fatal(err)
		}
		what, err := describe(o)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, what)
	}
	return out
}

func TestBuildProgram(t *testing.T) {
	t.Parallel()
	p := provider(t, "arm64")
	img := must(t, p)

	f, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("linux/arm64", f.OS+"/"+f.Architecture); diff != "" {
		t.Errorf("-want platform, +got platform:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/provider"}, f.Config.Entrypoint); diff != "" {
		t.Errorf("-want entrypoint, +got entrypoint:\n%s", diff)
	}
	if diff := cmp.Diff("65532:65532", f.Config.User); diff != "" {
		t.Errorf("-want user, +got user:\n%s", diff)
	}
	got := map[string]string{}
	for k, v := range f.Config.Labels {
		if !strings.HasPrefix(k, xpkg.AnnotationKey) {
			got[k] = v
		}
	}
	want := map[string]string{
		"org.opencontainers.image.authors":     "Its authors",
		"org.opencontainers.image.description": "Makes examples.",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.source":      "https://example.org/source",
		"org.opencontainers.image.title":       "Example",
		"org.opencontainers.image.version":     "v1.2.3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want labels, +got labels:\n%s", diff)
	}
	if diff := cmp.Diff([]string{`Provider "provider-example"`, `CustomResourceDefinition "things.example.org"`}, documents(t, img)); diff != "" {
		t.Errorf("-want objects, +got objects:\n%s", diff)
	}
}

// attributes are a file's permissions, whether it belongs to root, and its time.
type attributes struct {
	Mode int64
	Root bool
	Time time.Time
}

func TestBuildFiles(t *testing.T) {
	t.Parallel()
	epoch := time.Unix(0, 0).UTC()
	open := attributes{Mode: 0o755, Root: true, Time: epoch}
	data := attributes{Mode: 0o644, Root: true, Time: epoch}
	cases := map[string]struct {
		reason string
		path   string
		want   map[string]attributes
	}{
		"Root": {
			reason: "nothing else is in the image, and nothing that its user could change",
			path:   "/provider",
			want:   map[string]attributes{"provider": open, "package.yaml": data},
		},
		"Deep": {
			reason: "its user may enter the folders of a program",
			path:   "/usr/bin/provider",
			want:   map[string]attributes{"usr": open, "usr/bin": open, "usr/bin/provider": open, "package.yaml": data},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := provider(t, "amd64")
			p.Program.Path = tc.path
			if diff := cmp.Diff(tc.want, files(t, must(t, p))); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// files are those of the image, by their names.
func files(t *testing.T, img v1.Image) map[string]attributes {
	t.Helper()
	rc := mutate.Extract(img)
	defer func() { _ = rc.Close() }()

	got := map[string]attributes{}
	for r := tar.NewReader(rc); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got[h.Name] = attributes{Mode: h.Mode, Root: h.Uid == 0 && h.Gid == 0, Time: h.ModTime.UTC()}
	}
	return got
}

func TestBuildManifest(t *testing.T) {
	t.Parallel()
	m, err := must(t, provider(t, "amd64")).Manifest()
	if err != nil {
		t.Fatal(err)
	}
	got, media := []map[string]string{}, []types.MediaType{m.MediaType, m.Config.MediaType}
	for _, l := range m.Layers {
		got, media = append(got, l.Annotations), append(media, l.MediaType)
	}
	want := []map[string]string{nil, {"io.crossplane.xpkg": "base"}}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("Crossplane must find the YAML without the program: -want annotations, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]types.MediaType{types.OCIManifestSchema1, types.OCIConfigJSON, types.OCILayer, types.OCILayer}, media); diff != "" {
		t.Errorf("any OCI registry must take it: -want media types, +got:\n%s", diff)
	}
}

func TestBuildConfiguration(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{
		"crossplane.yaml": configurationMeta, "definition.yaml": xrd + "---\n# Nothing.\n---\n", "z/composition.yml": composition, "notes.txt": "no",
	})
	img := must(t, Package{Files: os.DirFS(dir), Meta: "crossplane.yaml", Objects: []string{"."}, Version: "v1.2.3", Siblings: "example.org/ours"})

	want := []string{`Configuration "configuration-example"`, `CompositeResourceDefinition "spaces.example.org"`, `Composition "spaces.example.org"`}
	if diff := cmp.Diff(want, documents(t, img)); diff != "" {
		t.Errorf("a folder with its metadata must be packed in the order of its files: -want, +got:\n%s", diff)
	}
	f, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if f.Architecture != "" || f.Config.Entrypoint != nil {
		t.Errorf("a package without a program is for no architecture and runs nothing, got %q and %q", f.Architecture, f.Config.Entrypoint)
	}
}

func TestBuildIsReproducible(t *testing.T) {
	t.Parallel()
	p := provider(t, "amd64")
	first := digest(t, must(t, p))

	other := provider(t, "amd64")
	old := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Chtimes(other.Program.File, old, old), os.Chmod(other.Program.File, 0o700)); err != nil {
		t.Fatal(err)
	}
	if got := digest(t, must(t, other)); got != first {
		t.Errorf("equal content elsewhere, of another time and mode, must give digest %s, got %s", first, got)
	}
	other.Version = "v1.2.4"
	if got := digest(t, must(t, other)); got == first {
		t.Error("another version must give another digest")
	}
}

func TestSaveAndLoad(t *testing.T) {
	t.Parallel()
	img := must(t, provider(t, "amd64"))
	dir := t.TempDir()
	file := filepath.Join(dir, "provider.xpkg")
	for range 2 {
		if err := Save(file, img); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("saving again must leave one file, got %v, %v", entries, err)
	}
	got, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if want, got := digest(t, img), digest(t, got); want != got {
		t.Errorf("a package must keep its digest in a file: want %s, got %s", want, got)
	}
	if _, err := Load(filepath.Join(dir, "none.xpkg")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("want an error that says there is no file, got %v", err)
	}
	if err := Save(filepath.Join(dir, "none", "provider.xpkg"), img); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("want an error that says there is no folder, got %v", err)
	}
}
