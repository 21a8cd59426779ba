// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"archive/tar"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// all is every image of the catalogue.
func all() []Image { return append(OfCluster(), OfCrossplane()...) }

// named returns the image with the name.
func named(t *testing.T, name string) Image {
	t.Helper()
	imgs := all()
	i := slices.IndexFunc(imgs, func(img Image) bool { return slices.Contains(img.Names, name) })
	if i < 0 {
		t.Fatalf("there is no image %q", name)
	}
	return imgs[i]
}

// inputs writes a file for each program of the catalogue, for busybox and into
// each folder of a module.
func inputs(t *testing.T) Inputs {
	t.Helper()
	dir := t.TempDir()
	write := func(name string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte("program "+name), 0o755); err != nil {
			t.Fatal(err)
		}
		return file
	}
	in := Inputs{Programs: map[string]string{}, Modules: map[string]string{}, Busybox: write("busybox"), Applets: []string{"sh", "cp", "busybox"}}
	for _, img := range all() {
		for p := range img.Programs {
			in.Programs[p] = write(p)
		}
		for _, f := range img.Folders {
			in.Modules[f.Module] = filepath.Join(dir, "module-"+f.Program)
			folder := filepath.Join(in.Modules[f.Module], f.Path)
			if err := os.MkdirAll(filepath.Join(folder, "deeper"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, "a.yaml"), []byte(f.Path), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return in
}

func digest(t *testing.T, img Image, in Inputs) v1.Hash {
	t.Helper()
	built, err := Build(img, in)
	if err != nil {
		t.Fatal(err)
	}
	h, err := built.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestBuildIsDeterministic(t *testing.T) {
	t.Parallel()
	// The same content in other files, with other times and in another order.
	a, b := inputs(t), inputs(t)
	slices.Reverse(b.Applets)
	for _, img := range all() {
		if da, db := digest(t, img, a), digest(t, img, b); da != db {
			t.Errorf("image %q has digest %s and then %s", img.Names[0], da, db)
		}
	}
	changed := inputs(t)
	if err := os.WriteFile(changed.Programs["kine"], []byte("another"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, img := range all() {
		_, uses := img.Programs["kine"]
		if same := digest(t, img, a) == digest(t, img, changed); same == uses {
			t.Errorf("image %q: digest stays when kine changes: %t, image holds kine: %t", img.Names[0], same, uses)
		}
	}
}

func TestBuildIsValid(t *testing.T) {
	t.Parallel()
	in := inputs(t)
	for _, img := range all() {
		built, err := Build(img, in)
		if err != nil {
			t.Fatal(err)
		}
		m, err := built.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		c, err := built.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		var ids []v1.Hash
		for _, l := range m.Layers {
			if l.MediaType != types.OCIUncompressedLayer {
				t.Errorf("image %q has a layer of type %q", img.Names[0], l.MediaType)
			}
			ids = append(ids, l.Digest)
		}
		// A layer that is not compressed is known by one digest in both places.
		if diff := cmp.Diff(ids, c.RootFS.DiffIDs); diff != "" {
			t.Errorf("image %q: -layers of manifest +layers of config:\n%s", img.Names[0], diff)
		}
		if c.OS != "linux" || c.Architecture != runtime.GOARCH {
			t.Errorf("image %q is for %s/%s", img.Names[0], c.OS, c.Architecture)
		}
		if len(c.Config.Entrypoint)+len(c.Config.Cmd) == 0 {
			t.Errorf("image %q has nothing to run", img.Names[0])
		}
	}
}

// files reads the whole image as a map from path to what is there.
func files(t *testing.T, img v1.Image) map[string]string {
	t.Helper()
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, l := range layers {
		rc, err := l.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		for r := tar.NewReader(rc); ; {
			h, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			out[h.Name] = string(h.Typeflag) + string(b) + h.Linkname
			if strings.HasPrefix(h.Name, "kubernetes/") && h.Mode&0o111 == 0 {
				t.Errorf("%q cannot be run", h.Name)
			}
		}
	}
	return out
}

func TestBuildContent(t *testing.T) {
	t.Parallel()
	built, err := Build(named(t, VClusterKubernetes), inputs(t))
	if err != nil {
		t.Fatal(err)
	}
	got := files(t, built)
	want := map[string]string{
		"bin/": "5", "bin/busybox": "0program busybox", "bin/cp": "2busybox", "bin/sh": "2busybox",
		"etc/": "5", "etc/ssl/": "5", "etc/ssl/certs/": "5", "root/": "5", "tmp/": "5",
		"kubernetes/kine":                    "0program kine",
		"kubernetes/kube-apiserver":          "0program kube-apiserver",
		"kubernetes/kube-controller-manager": "0program kube-controller-manager",
	}
	maps.DeleteFunc(got, func(name, _ string) bool { return name == "etc/passwd" || name == "etc/group" })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestBuildFolders(t *testing.T) {
	t.Parallel()
	in := inputs(t)
	built, err := Build(named(t, Crossplane), in)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"bin/crossplane": "0program crossplane",
		"crds/":          "5", "crds/a.yaml": "0cluster/crds",
		"webhookconfigurations/": "5", "webhookconfigurations/a.yaml": "0cluster/webhookconfigurations",
	}
	if diff := cmp.Diff(want, files(t, built)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	for module, dir := range in.Modules {
		in.Modules[module] = dir + "x"
		if _, err := Build(named(t, Crossplane), in); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Build(...) without the folder = %v, want %v", err, os.ErrNotExist)
		}
		delete(in.Modules, module)
		if _, err := Build(named(t, Crossplane), in); err == nil || !strings.Contains(err.Error(), module) {
			t.Errorf("Build(...) without the module = %v, want an error that names it", err)
		}
	}
}

func TestBuildUser(t *testing.T) {
	t.Parallel()
	in := inputs(t)
	cases := map[string]struct {
		reason string
		want   string
	}{
		SourceController: {reason: "the kubelet believes that a user is not root only when it is a number", want: "65534:65534"},
		FakeAppAdvisor:   {reason: "an advisor is not trusted", want: "65534:65534"},
		Crossplane:       {reason: "its chart asks for that user", want: "65532:65532"},
		VCluster:         {reason: "vCluster runs as root unless told otherwise"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			built, err := Build(named(t, name), in)
			if err != nil {
				t.Fatal(err)
			}
			c, err := built.ConfigFile()
			if err != nil {
				t.Fatal(err)
			}
			if c.Config.User != tc.want {
				t.Errorf("%s: user is %q, want %q", tc.reason, c.Config.User, tc.want)
			}
		})
	}
}

func TestBuildWithoutProgram(t *testing.T) {
	t.Parallel()
	in := inputs(t)
	delete(in.Programs, "pause")
	if _, err := Build(named(t, Pause), in); err == nil || !strings.Contains(err.Error(), `"pause"`) {
		t.Errorf("Build(...) = %v, want an error that names the program", err)
	}
	in.Programs["pause"] = filepath.Join(t.TempDir(), "nosuch")
	if _, err := Build(named(t, Pause), in); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Build(...) = %v, want %v", err, os.ErrNotExist)
	}
}

func TestCatalogueNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, img := range all() {
		for _, n := range img.Names {
			if seen[n] {
				t.Errorf("name %q stands for two images", n)
			}
			seen[n] = true
		}
	}
}

func TestApplets(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "busybox")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n[ \"$1\" = --list ] && echo sh && echo cp\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := Applets(t.Context(), script)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"sh", "cp"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := Applets(t.Context(), script+"x"); err == nil {
		t.Error("a busybox that is not there has commands")
	}
}
