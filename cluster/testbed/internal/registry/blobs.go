// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package registry is the node's OCI registry. Its content lies in folders on
// disk, so that it is there at once when the registry starts.
package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// blobs keeps blobs as files. It writes into the first of its folders and reads
// from all of them, so that a cluster's own content stands over the shared one.
type blobs struct {
	folders []string
}

func (b blobs) find(h v1.Hash) (string, fs.FileInfo, error) {
	for _, folder := range b.folders {
		file := filepath.Join(folder, h.Algorithm, h.Hex)
		info, err := os.Stat(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return file, info, err
	}
	return "", nil, registry.ErrNotFound
}

// Stat returns the blob's size in bytes, or registry.ErrNotFound.
func (b blobs) Stat(_ context.Context, _ string, h v1.Hash) (int64, error) {
	_, info, err := b.find(h)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Get opens the blob, or returns registry.ErrNotFound.
func (b blobs) Get(_ context.Context, _ string, h v1.Hash) (io.ReadCloser, error) {
	file, _, err := b.find(h)
	if err != nil {
		return nil, err
	}
	return os.Open(file)
}

// Put writes the blob. The reader that the registry hands in checks the digest,
// so a blob that arrived broken is never given its final name.
func (b blobs) Put(_ context.Context, _ string, h v1.Hash, rc io.ReadCloser) (err error) {
	final := filepath.Join(b.folders[0], h.Algorithm, h.Hex)
	if err := os.MkdirAll(filepath.Dir(final), 0o750); err != nil {
		return fmt.Errorf("cannot make folder of blob: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(final), "upload-*")
	if err != nil {
		return fmt.Errorf("cannot store blob: %w", err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = io.Copy(f, rc)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("cannot store blob: %w", err)
	}
	return os.Rename(f.Name(), final)
}
