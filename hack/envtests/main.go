// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Command envtests prints the arguments of a go test that runs the tests which need an
// API server, and no others: those of the files that the build tag envtest adds.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const tag = "envtest"

var errNone = errors.New("no test has the build tag " + tag)

func main() {
	args, err := arguments(context.Background(), ".")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}

	fmt.Println(strings.Join(args, " "))
}

// arguments for the module in the folder.
func arguments(ctx context.Context, dir string) ([]string, error) {
	without, err := testFiles(ctx, dir, "")
	if err != nil {
		return nil, err
	}

	with, err := testFiles(ctx, dir, tag)
	if err != nil {
		return nil, err
	}

	tests, packages := map[string]bool{}, map[string]bool{}

	for file, in := range with {
		if _, always := without[file]; always {
			continue
		}

		found, err := testsIn(file)
		if err != nil {
			return nil, err
		}

		for _, name := range found {
			tests[name], packages[in] = true, true
		}
	}

	if len(tests) == 0 {
		return nil, errNone
	}

	// A test of the same name that needs none, in one of these packages, runs as well.
	run := "^(" + strings.Join(slices.Sorted(maps.Keys(tests)), "|") + ")$"

	return append([]string{"-tags", tag, "-run", run}, slices.Sorted(maps.Keys(packages))...), nil
}

// testFiles of all packages, with the tag, and in which package each is.
func testFiles(ctx context.Context, dir, tag string) (map[string]string, error) {
	c := exec.CommandContext(ctx, "go", "list", "-tags="+tag, "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles", "./...")
	c.Dir, c.Stderr = dir, os.Stderr

	raw, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot list packages: %w", err)
	}

	out := map[string]string{}

	for d := json.NewDecoder(bytes.NewReader(raw)); ; {
		var p struct {
			Dir, ImportPath           string
			TestGoFiles, XTestGoFiles []string
		}

		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, fmt.Errorf("cannot read the list of packages: %w", err)
		}

		for _, f := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			out[filepath.Join(p.Dir, f)] = p.ImportPath
		}
	}
}

// testsIn are the functions of the file that go test may run. One too many does no harm.
func testsIn(file string) ([]string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("cannot read a test: %w", err)
	}

	var out []string

	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name != "TestMain" && isNamedAsTest(fn.Name.Name) {
			out = append(out, fn.Name.Name)
		}
	}

	return out, nil
}

func isNamedAsTest(name string) bool {
	return slices.ContainsFunc([]string{"Test", "Fuzz", "Example"}, func(p string) bool { return strings.HasPrefix(name, p) })
}
