// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/step"
)

func newBuilder(t *testing.T) *Builder {
	t.Helper()
	b, err := NewBuilder(t.Context(), t.TempDir(), step.New(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func pause(t *testing.T) Program {
	t.Helper()
	ps, err := Named("pause")
	if err != nil {
		t.Fatal(err)
	}
	return ps[0]
}

func TestBuild(t *testing.T) {
	t.Parallel()
	b, p := newBuilder(t), pause(t)
	ps := []Program{p}
	if missing, err := b.Missing(ps); err != nil || len(missing) != 1 {
		t.Fatalf("Missing(...) in an empty cache = %v, %v", missing, err)
	}
	// What an interrupted build left is no obstacle.
	file, err := b.Path(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file)+".part/rubbish", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := b.Build(t.Context(), ps); err != nil {
		t.Fatal(err)
	}
	if missing, err := b.Missing(ps); err != nil || len(missing) != 0 {
		t.Errorf("Missing(...) after Build = %v, %v", missing, err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(file)); len(entries) != 1 {
		t.Errorf("the cache holds %v, not the program alone", entries)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "version", file).Output(); err != nil || !strings.Contains(string(out), b.goVersion) {
		t.Errorf("go version of the result = %q, %v", out, err)
	}
}

func TestBuildFails(t *testing.T) {
	t.Parallel()
	b, p := newBuilder(t), pause(t)
	p.Package = "./nosuch"
	err := b.Build(t.Context(), []Program{p})
	if err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("the error does not hold what go says: %v", err)
	}
	if missing, _ := b.Missing([]Program{p}); len(missing) != 1 {
		t.Error("a failed build counts as built")
	}
}

func TestBuildInterrupted(t *testing.T) {
	t.Parallel()
	b, p := newBuilder(t), pause(t)
	why := errors.New("told to stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := b.Build(ctx, []Program{p}); !errors.Is(err, why) {
		t.Errorf("Build(...) = %v, want the reason why it was ended", err)
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	got := arguments(Program{Package: "example.org/x", LDFlags: "-s -w", Tags: "a b"}, "/out")
	want := []string{"build", "-mod=readonly", "-trimpath", "-ldflags", "-s -w", "-o", "/out", "-tags", "a b", "example.org/x"}
	if !slices.Equal(got, want) {
		t.Errorf("arguments = %q, want %q", got, want)
	}
}
