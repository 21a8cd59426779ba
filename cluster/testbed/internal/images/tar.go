// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package images makes the container images of the cluster from nothing but the
// built programs and Debian's static busybox.
package images

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// An entry is one file, folder or link of a layer. All of them belong to root
// and carry no time, so that equal content gives an equal layer.
type entry struct {
	// Path is the path in the image, without a leading slash.
	Path string
	Mode int64
	// Source is the file on this machine that holds the content.
	Source string
	// Content is the content of a file without a Source.
	Content []byte
	// Link is the target of a symbolic link.
	Link string
	// Dir says that the entry is a folder.
	Dir bool
}

func (e entry) header(size int64) *tar.Header {
	h := &tar.Header{Name: e.Path, Mode: e.Mode, Size: size, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
	switch {
	case e.Dir:
		h.Typeflag, h.Name = tar.TypeDir, e.Path+"/"
	case e.Link != "":
		h.Typeflag, h.Linkname = tar.TypeSymlink, e.Link
	}
	return h
}

// layer packs the entries, in their order, as an uncompressed layer: the node
// that unpacks it is on the same machine, so that compressing would only cost.
func layer(entries ...entry) (v1.Layer, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, e := range entries {
		content := e.Content
		if e.Source != "" {
			b, err := os.ReadFile(e.Source)
			if err != nil {
				return nil, fmt.Errorf("cannot pack %q: %w", e.Path, err)
			}
			content = b
			buf.Grow(len(b) + 4096)
		}
		if err := w.WriteHeader(e.header(int64(len(content)))); err != nil {
			return nil, fmt.Errorf("cannot pack %q: %w", e.Path, err)
		}
		if _, err := w.Write(content); err != nil {
			return nil, fmt.Errorf("cannot pack %q: %w", e.Path, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("cannot pack layer: %w", err)
	}
	return static.NewLayer(buf.Bytes(), types.OCIUncompressedLayer), nil
}
