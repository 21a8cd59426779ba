// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// The module definitions are stored under other names, because a folder with a
// go.mod is a module of its own and would be left out of this one.
//
//go:embed modules
var modules embed.FS

// sourceFiles maps the stored name of a module's file to the name it is built
// under. A main.go that imports nothing but the standard library may keep its
// name, with tests beside it.
var sourceFiles = map[string]string{
	"program.mod": "go.mod",
	"program.sum": "go.sum",
	"main.go.txt": "main.go",
	"main.go":     "main.go",
}

// source returns the content of the module's files by the name they are built
// under. A module without a main.go of its own has only the other two.
func source(module string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for stored, name := range sourceFiles {
		b, err := modules.ReadFile(path.Join("modules", module, stored))
		if errors.Is(err, fs.ErrNotExist) && name == "main.go" {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read definition of module %q: %w", module, err)
		}
		out[name] = b
	}
	return out, nil
}

// writeSource lays the module out in dir, ready for the go command.
func writeSource(module, dir string) error {
	files, err := source(module)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("cannot make build folder: %w", err)
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			return fmt.Errorf("cannot write build folder: %w", err)
		}
	}
	return nil
}
