// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/kubeopera/provider-kubeopera/hack/packages/archive"
)

// user is the user that a program runs as, unless its pod says otherwise. It
// owns nothing in the image.
const user = "65532:65532"

// A Program is a static Linux executable, all that there is in its image.
type Program struct {
	// File is its path on this machine.
	File string
	// Path is its absolute path in the image, which is the entrypoint.
	Path string
	// Arch is the architecture that it is built for, as GOARCH names it.
	Arch string
}

func (p Program) image(labels map[string]string) (v1.Image, error) {
	l, err := p.layer()
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(empty.Image, l)
	if err != nil {
		return nil, err
	}
	f, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	f = f.DeepCopy()
	f.OS, f.Architecture = "linux", p.Arch
	f.Config = v1.Config{Entrypoint: []string{p.Path}, User: user, WorkingDir: "/", Labels: labels}
	return mutate.ConfigFile(img, f)
}

// layer holds the executable and the folders that it is in.
func (p Program) layer() (v1.Layer, error) {
	content, err := os.ReadFile(p.File)
	if err != nil {
		return nil, fmt.Errorf("cannot read the program: %w", err)
	}
	if err := p.check(content); err != nil {
		return nil, fmt.Errorf("program %s: %w", p.File, err)
	}
	b, err := archive.Tar(p.entries(content)...)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
	return tarball.LayerFromOpener(open, tarball.WithCompressionLevel(gzip.DefaultCompression), tarball.WithCompressedCaching)
}

func (p Program) entries(content []byte) []archive.Entry {
	var out []archive.Entry
	file := strings.TrimPrefix(p.Path, "/")
	for i, c := range file {
		if c == '/' {
			out = append(out, archive.Entry{Path: file[:i], Mode: 0o755, Dir: true})
		}
	}
	return append(out, archive.Entry{Path: file, Mode: 0o755, Content: content})
}

// machines are the architectures that programs may be built for.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// check refuses what would not start in an image that holds nothing else.
func (p Program) check(content []byte) error {
	f, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("not a Linux executable: %w; build it with GOOS=linux", err)
	}
	if want, ok := machines[p.Arch]; !ok || f.Machine != want {
		return fmt.Errorf("built for %s and not for %q; build it with GOARCH of the package, amd64 or arm64", f.Machine, p.Arch)
	}
	for _, s := range f.Progs {
		if s.Type == elf.PT_INTERP {
			return errors.New("needs a dynamic linker, which the image does not have; build it with CGO_ENABLED=0")
		}
	}
	return nil
}
