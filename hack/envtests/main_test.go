// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	always = "package x\n\nimport \"testing\"\n\nfunc TestAlways(*testing.T) {}\n"
	tagged = "//go:build envtest\n\npackage x\n\nimport \"testing\"\n\n"
)

func TestArguments(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		files  map[string]string
		want   []string
		err    error
	}{
		"Mixed": {
			reason: "a package has tests of both kinds",
			files: map[string]string{
				"a/a_test.go":   always,
				"a/api_test.go": tagged + "func TestMain(*testing.M) {}\nfunc TestB(*testing.T) {}\nfunc FuzzA(*testing.F) {}\nfunc helper(*testing.T) {}\n",
			},
			want: []string{"-tags", "envtest", "-run", "^(FuzzA|TestB)$", "example.org/m/a"},
		},
		"External": {
			reason: "a test of a package from outside of it, beside one that needs no API server",
			files: map[string]string{
				"a/doc.go": "package x\n", "a/a_test.go": strings.Replace(tagged, "package x", "package x_test", 1) + "func TestA(*testing.T) {}\n",
				"b/b_test.go": always,
			},
			want: []string{"-tags", "envtest", "-run", "^(TestA)$", "example.org/m/a"},
		},
		"Constraint": {
			reason: "the tag is a part of what a file needs, and another does without it",
			files: map[string]string{
				"a/a_test.go": strings.Replace(tagged, "envtest", "envtest && !e2e", 1) + "func TestA(*testing.T) {}\n",
				"b/b_test.go": strings.Replace(tagged, "envtest", "!envtest", 1) + "func TestB(*testing.T) {}\n",
				"c/c_test.go": strings.Replace(tagged, "envtest", "e2e", 1) + "func TestC(*testing.T) {}\n",
			},
			want: []string{"-tags", "envtest", "-run", "^(TestA)$", "example.org/m/a"},
		},
		"None": {
			reason: "all tests, or none, would be run instead",
			files:  map[string]string{"a/a_test.go": always},
			err:    errNone,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			dir := t.TempDir()
			tc.files["go.mod"] = "module example.org/m\n\ngo 1.25\n"

			for file, content := range tc.files {
				file = filepath.Join(dir, file)
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600)); err != nil {
					t.Fatal(err)
				}
			}

			got, err := arguments(t.Context(), dir)
			if diff := cmp.Diff(tc.want, got); diff != "" || !errors.Is(err, tc.err) {
				t.Errorf("%s: %v, -want, +got:\n%s", tc.reason, err, diff)
			}
		})
	}
}

var (
	constraint = regexp.MustCompile(`(?m)^//go:build .*\benvtest\b`)
	function   = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)[A-Z]\w*)\(`)
)

// TestNothingIsMissed looks for the tests of this module that need an API server in
// another way, by their text.
func TestNothingIsMissed(t *testing.T) {
	t.Parallel()

	const root = "../.."

	args, err := arguments(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}

	run, packages, found := regexp.MustCompile(args[3]), args[4:], 0

	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, "_test.go") {
			return err
		}

		text, err := os.ReadFile(p)
		if err != nil || !constraint.Match(text) || strings.Contains(p, "hack/faults/") {
			return err
		}

		folder := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(p), root))

		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			found++

			if m[1] != "TestMain" && (!run.MatchString(m[1]) || !slices.ContainsFunc(packages, func(in string) bool { return strings.HasSuffix(in, folder) })) {
				t.Errorf("%s of %s is not run", m[1], p)
			}
		}

		return nil
	})
	if err != nil || found == 0 {
		t.Errorf("%d tests found: %v", found, err)
	}
}
