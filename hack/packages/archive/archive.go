// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package archive makes the content of an image's layer, equal for equal files.
package archive

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
)

// An Entry is one file, folder or link of a layer. All of them belong to root
// and carry no time, so that equal content gives an equal layer.
type Entry struct {
	// Path is the path in the image, without a leading slash.
	Path string
	// Mode holds the permissions.
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

// Tar packs the entries in their order. An error names the path of the entry.
func Tar(entries ...Entry) ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, e := range entries {
		content, err := e.content()
		if err != nil {
			return nil, fmt.Errorf("cannot pack %q: %w", e.Path, err)
		}
		buf.Grow(len(content) + 4096)
		if err := w.WriteHeader(e.header(int64(len(content)))); err != nil {
			return nil, fmt.Errorf("cannot pack %q: %w", e.Path, err)
		}
		if _, err := w.Write(content); err != nil {
			return nil, fmt.Errorf("cannot pack %q: %w", e.Path, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("cannot end an archive: %w", err)
	}
	return buf.Bytes(), nil
}

func (e Entry) content() ([]byte, error) {
	if e.Source == "" {
		return e.Content, nil
	}
	return os.ReadFile(e.Source)
}

func (e Entry) header(size int64) *tar.Header {
	h := &tar.Header{Name: e.Path, Mode: e.Mode, Size: size, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
	switch {
	case e.Dir:
		h.Typeflag, h.Name = tar.TypeDir, e.Path+"/"
	case e.Link != "":
		h.Typeflag, h.Linkname = tar.TypeSymlink, e.Link
	}
	return h
}
