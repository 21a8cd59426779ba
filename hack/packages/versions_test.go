// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// named is where a text names a package of ours with a tag.
var named = regexp.MustCompile(regexp.QuoteMeta(siblings) + `/((?:provider|function|configuration)-[a-z-]+):([\w.-]*\w)`)

// TestVersions holds that what is built by default is what people are told to
// install.
func TestVersions(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^VERSION \?= (\S+)$`).FindSubmatch(makefile)
	if found == nil {
		t.Fatal("the Makefile sets no VERSION")
	}
	version := string(found[1])

	readme := filepath.Join(root, "README.md")
	files, err := filepath.Glob(filepath.Join(root, "examples", "install", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	installed := map[string]bool{}
	for _, file := range append(files, readme) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllSubmatch(text, -1) {
			name, tag := string(m[1]), string(m[2])
			if tag != version {
				t.Errorf("%s: %s must have the Makefile's version, %s, and has %s", file, name, version, tag)
			}
			if file != readme {
				installed[name] = true
			}
		}
	}
	for _, e := range catalogue {
		if !installed[e.name] {
			t.Errorf("examples/install must name %s with its version", e.name)
		}
	}
}
