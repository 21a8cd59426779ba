// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

const (
	providerMeta = `# A comment.
apiVersion: meta.pkg.crossplane.io/v1
kind: Provider
metadata:
  name: provider-example
  annotations:
    friendly-name.meta.crossplane.io: Example
    meta.crossplane.io/description: |
      Makes examples.
    meta.crossplane.io/license: Apache-2.0
    meta.crossplane.io/maintainer: Its authors
    meta.crossplane.io/source: https://example.org/source
    example.org/other: stays with Crossplane
spec:
  crossplane:
    version: ">=v2.0.0"
  capabilities: [safe-start]
`
	configurationMeta = `apiVersion: meta.pkg.crossplane.io/v1
kind: Configuration
metadata:
  name: configuration-example
spec:
  dependsOn:
    - apiVersion: pkg.crossplane.io/v1
      kind: Provider
      package: example.org/ours/provider-example
    - apiVersion: pkg.crossplane.io/v1
      kind: Function
      package: example.org/theirs/function-other
      version: ">=v0.3.0"
`
	crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.example.org
spec:
  group: example.org
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions: []
`
	xrd = `apiVersion: apiextensions.crossplane.io/v2
kind: CompositeResourceDefinition
metadata:
  name: spaces.example.org
spec:
  group: example.org
  names: {kind: Space, plural: spaces}
  scope: Namespaced
  versions: []
`
	composition = `apiVersion: apiextensions.crossplane.io/v1
kind: Composition
metadata:
  name: spaces.example.org
spec:
  compositeTypeRef: {apiVersion: example.org/v1, kind: Space}
  mode: Pipeline
  pipeline:
    - step: compose
      functionRef: {name: theirs-function-other}
`
)

// folder writes files, keyed by their path, into a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// executable is the smallest file that says of itself what is checked.
func executable(t *testing.T, m elf.Machine, p elf.ProgType) string {
	t.Helper()
	h := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(m), Version: uint32(elf.EV_CURRENT),
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
	}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)
	var b bytes.Buffer
	for _, part := range []any{h, elf.Prog64{Type: uint32(p)}} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// provider is a package with a program for the architecture.
func provider(t *testing.T, arch string) Package {
	t.Helper()
	dir := folder(t, map[string]string{
		"crossplane.yaml": providerMeta,
		"crds/thing.yaml": crd,
		"crds/README.md":  "Not YAML.",
		"program":         executable(t, machines[arch], elf.PT_LOAD),
	})
	return Package{
		Files:   os.DirFS(dir),
		Meta:    "crossplane.yaml",
		Objects: []string{"crds"},
		Version: "v1.2.3",
		Program: &Program{File: filepath.Join(dir, "program"), Path: "/provider", Arch: arch},
	}
}
