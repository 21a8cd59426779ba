// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// The module definitions are stored under other names, because a folder with a
// go.mod is a module of its own and would be left out of this one.
//
//go:embed modules
var modules embed.FS

// sourceFiles maps the stored name of a module's file to the name it is built
// under. Go files keep their names when they import only what this module has,
// too; their tests are not part of what is built.
var sourceFiles = map[string]string{
	"program.mod": "go.mod",
	"program.sum": "go.sum",
	"main.go.txt": "main.go",
}

// source returns the content of the module's files by the path they are built
// under. A module without a main.go of its own has only the first two. Packages
// in folders below it are built with it.
func source(module string) (map[string][]byte, error) {
	folder := path.Join("modules", module)
	out := map[string][]byte{}
	err := fs.WalkDir(modules, folder, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, ok := sourceFiles[e.Name()]
		if path.Ext(e.Name()) == ".go" && !strings.HasSuffix(e.Name(), "_test.go") {
			name, ok = e.Name(), true
		}
		if !ok {
			return nil
		}
		b, err := modules.ReadFile(file)
		out[path.Join(path.Dir(file), name)[len(folder)+1:]] = b
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read definition of module %q: %w", module, err)
	}
	return out, nil
}

// writeSource lays the module out in dir, ready for the go command.
func writeSource(module, dir string) error {
	files, err := source(module)
	if err != nil {
		return err
	}
	// A file that is no longer among them would be built, too.
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("cannot clear build folder: %w", err)
	}
	for name, b := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			return fmt.Errorf("cannot make build folder: %w", err)
		}
		if err := os.WriteFile(file, b, 0o600); err != nil {
			return fmt.Errorf("cannot write build folder: %w", err)
		}
	}
	return nil
}
