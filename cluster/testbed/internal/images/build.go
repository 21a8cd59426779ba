// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package images makes the container images of the cluster from nothing but the
// built programs and Debian's static busybox.
package images

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/kubeopera/provider-kubeopera/hack/packages/archive"
)

// Inputs are the files on this machine that images are made of.
type Inputs struct {
	// Programs maps a program's name to its executable.
	Programs map[string]string
	// Busybox is the static busybox executable.
	Busybox string
	// Applets are the names of busybox's commands.
	Applets []string
	// Modules maps a Go module's path to its folder.
	Modules map[string]string
}

// Applets asks the busybox executable which commands it has.
func Applets(ctx context.Context, busybox string) ([]string, error) {
	out, err := exec.CommandContext(ctx, busybox, "--list").Output()
	if err != nil {
		return nil, fmt.Errorf("cannot ask busybox for its commands: %w", err)
	}
	return strings.Fields(string(out)), nil
}

// Build makes the image. Equal inputs give an equal digest.
func Build(img Image, in Inputs) (v1.Image, error) {
	layers, err := layers(img, in)
	if err != nil {
		return nil, err
	}
	out := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	out, err = mutate.AppendLayers(out, layers...)
	if err != nil {
		return nil, fmt.Errorf("cannot make image %q: %w", img.Names[0], err)
	}
	file, err := out.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("cannot make image %q: %w", img.Names[0], err)
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", runtime.GOARCH
	file.Config = v1.Config{
		Entrypoint: img.Entrypoint,
		Cmd:        img.Cmd,
		WorkingDir: "/",
		User:       img.User,
		Env:        []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
	}
	out, err = mutate.ConfigFile(out, file)
	if err != nil {
		return nil, fmt.Errorf("cannot make image %q: %w", img.Names[0], err)
	}
	return out, nil
}

// layers makes one layer for the shell and one for each program and folder, so
// that images share them.
func layers(img Image, in Inputs) ([]v1.Layer, error) {
	var out []v1.Layer
	if img.Shell {
		l, err := layer(shell(in)...)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	for _, name := range slices.Sorted(maps.Keys(img.Programs)) {
		source, ok := in.Programs[name]
		if !ok {
			return nil, fmt.Errorf("cannot make image %q: program %q is not built", img.Names[0], name)
		}
		l, err := layer(archive.Entry{Path: img.Programs[name], Mode: 0o755, Source: source})
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	for _, path := range slices.Sorted(maps.Keys(img.Folders)) {
		entries, err := folder(path, img.Folders[path], in)
		if err != nil {
			return nil, fmt.Errorf("cannot make image %q: %w", img.Names[0], err)
		}
		l, err := layer(entries...)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// layer is not compressed: the node that unpacks it is on the same machine, so
// that compressing would only cost.
func layer(entries ...archive.Entry) (v1.Layer, error) {
	b, err := archive.Tar(entries...)
	if err != nil {
		return nil, err
	}
	return static.NewLayer(b, types.OCIUncompressedLayer), nil
}

// folder returns the folder at path and the files directly in it.
func folder(path string, f Folder, in Inputs) ([]archive.Entry, error) {
	module, ok := in.Modules[f.Module]
	if !ok {
		return nil, fmt.Errorf("module %q is not downloaded", f.Module)
	}
	files, err := os.ReadDir(filepath.Join(module, f.Path))
	if err != nil {
		return nil, err
	}
	out := []archive.Entry{{Path: path, Mode: 0o755, Dir: true}}
	for _, file := range files {
		if file.Type().IsRegular() {
			out = append(out, archive.Entry{Path: path + "/" + file.Name(), Mode: 0o644, Source: filepath.Join(module, f.Path, file.Name())})
		}
	}
	return out, nil
}

func shell(in Inputs) []archive.Entry {
	out := []archive.Entry{
		{Path: "bin", Mode: 0o755, Dir: true},
		{Path: "bin/busybox", Mode: 0o755, Source: in.Busybox},
	}
	for _, a := range slices.Sorted(slices.Values(in.Applets)) {
		if a != "busybox" {
			out = append(out, archive.Entry{Path: "bin/" + a, Mode: 0o777, Link: "busybox"})
		}
	}
	return append(out,
		archive.Entry{Path: "etc", Mode: 0o755, Dir: true},
		archive.Entry{Path: "etc/passwd", Mode: 0o644, Content: []byte("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n")},
		archive.Entry{Path: "etc/group", Mode: 0o644, Content: []byte("root:x:0:\nnobody:x:65534:\n")},
		archive.Entry{Path: "etc/ssl", Mode: 0o755, Dir: true},
		archive.Entry{Path: "etc/ssl/certs", Mode: 0o755, Dir: true},
		archive.Entry{Path: "root", Mode: 0o700, Dir: true},
		archive.Entry{Path: "tmp", Mode: 0o1777, Dir: true},
	)
}
