// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Save writes the package to a file of the form that `crossplane xpkg push`
// reads, replacing one that is there.
func Save(file string, img v1.Image) error {
	f, err := os.CreateTemp(filepath.Dir(file), ".partial-*")
	if err != nil {
		return fmt.Errorf("cannot write package: %w", err)
	}
	err = errors.Join(tarball.Write(nil, img, f), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("cannot write package %q: %w", file, err)
	}
	return nil
}

// Load reads a package that Save wrote, with its digest. It returns an error
// that wraps fs.ErrNotExist if there is none.
func Load(file string) (v1.Image, error) {
	img, err := tarball.ImageFromPath(file, nil)
	if err != nil {
		return nil, fmt.Errorf("cannot read package %q: %w", file, err)
	}
	// The form has no room for annotations of layers, which lie in labels.
	img, err = annotate(img)
	if err != nil {
		return nil, fmt.Errorf("cannot read package %q: %w", file, err)
	}
	return img, nil
}
