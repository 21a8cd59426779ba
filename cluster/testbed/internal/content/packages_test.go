// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/images"
)

// fakePackage returns the package that has no Go module.
func fakePackage(t *testing.T) packageSource {
	t.Helper()
	i := slices.IndexFunc(packagesOfCrossplane, func(p packageSource) bool { return strings.HasPrefix(p.program, "fake-") })
	if i < 0 {
		t.Fatal("there is no fake")
	}
	return packagesOfCrossplane[i]
}

// executable returns a file that says that it is one for this machine.
func executable(t *testing.T) string {
	t.Helper()
	machine, ok := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	if !ok {
		t.Skipf("packages are not built for %s", runtime.GOARCH)
	}
	h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT), Ehsize: 64}
	copy(h.Ident[:], elf.ELFMAG+string([]byte{byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}))
	var buf bytes.Buffer
	if err := binary.Write(&buf, binary.LittleEndian, h); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, buf.Bytes(), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestPackFake(t *testing.T) {
	// What is temporary must be gone.
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	p := fakePackage(t)
	s := &Set{inputs: images.Inputs{Programs: map[string]string{p.program: executable(t)}}}
	img, err := s.pack(t.Context(), nil, p)
	if err != nil {
		t.Fatal(err)
	}
	c, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Config.Entrypoint, []string{"/fake-function"}) || c.Config.User != "65532:65532" {
		t.Errorf("it runs %q as %q", c.Config.Entrypoint, c.Config.User)
	}
	if title := c.Config.Labels["org.opencontainers.image.title"]; !strings.Contains(title, "Fake") {
		t.Errorf("it calls itself %q", title)
	}
	r, err := xpkg.ExtractPackageYAML(img)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kind: Function", "name: fake-function-patch-and-transform", `kubeopera.io/fake: "true"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the package lacks %q:\n%s", want, b)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left", left, err)
	}
}

func TestPackWithoutProgram(t *testing.T) {
	t.Parallel()
	p := fakePackage(t)
	s := &Set{inputs: images.Inputs{Programs: map[string]string{p.program: filepath.Join(t.TempDir(), "nosuch")}}}
	if _, err := s.pack(t.Context(), nil, p); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("pack(...) = %v, want %v", err, os.ErrNotExist)
	}
}
