// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// found is what an archive says of an entry.
type found struct {
	Name, Content, Link string
	Type                byte
	Mode                int64
	Owner               int
	Time                time.Time
}

func read(t *testing.T, archive []byte) []found {
	t.Helper()
	var out []found
	for r := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, found{h.Name, string(b), h.Linkname, h.Typeflag, h.Mode, h.Uid + h.Gid, h.ModTime.UTC()})
	}
}

func TestTar(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "source")
	if err := os.WriteFile(source, []byte("from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	entries := []Entry{
		{Path: "z", Mode: 0o755, Dir: true},
		{Path: "z/program", Mode: 0o755, Source: source},
		{Path: "a", Mode: 0o644, Content: []byte("given")},
		{Path: "z/link", Mode: 0o777, Link: "program"},
	}
	first, err := Tar(entries...)
	if err != nil {
		t.Fatal(err)
	}
	epoch := time.Unix(0, 0).UTC()
	want := []found{
		{Name: "z/", Type: tar.TypeDir, Mode: 0o755, Time: epoch},
		{Name: "z/program", Type: tar.TypeReg, Mode: 0o755, Content: "from a file", Time: epoch},
		{Name: "a", Type: tar.TypeReg, Mode: 0o644, Content: "given", Time: epoch},
		{Name: "z/link", Type: tar.TypeSymlink, Mode: 0o777, Link: "program", Time: epoch},
	}
	if diff := cmp.Diff(want, read(t, first)); diff != "" {
		t.Errorf("entries keep their order, belong to root and have no time: -want, +got:\n%s", diff)
	}

	old := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Chtimes(source, old, old), os.Chmod(source, 0o700)); err != nil {
		t.Fatal(err)
	}
	second, err := Tar(entries...)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("a file of another time and mode must give the same archive")
	}
}

func TestTarFails(t *testing.T) {
	t.Parallel()
	_, err := Tar(Entry{Path: "bin/program", Source: filepath.Join(t.TempDir(), "nosuch")})
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), `"bin/program"`) {
		t.Errorf("want an error that names the entry and wraps %v, got %v", os.ErrNotExist, err)
	}
}
