// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package program

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/step"
)

// A Builder builds programs into a cache folder.
type Builder struct {
	cache     string
	goVersion string
	log       *step.Log
}

// NewBuilder returns a Builder for the cache folder. It asks the go command for
// its version and fails when there is none.
func NewBuilder(ctx context.Context, cache string, log *step.Log) (*Builder, error) {
	out, err := goCommand(ctx, "", "env", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("cannot ask go for its version (Go must be installed and on PATH): %w", err)
	}
	return &Builder{cache: cache, goVersion: strings.TrimSpace(string(out)), log: log}, nil
}

// Path is where the executable lies once it is built.
func (b *Builder) Path(p Program) (string, error) {
	key, err := Key(p, b.goVersion)
	if err != nil {
		return "", err
	}
	return filepath.Join(b.cache, "programs", key, p.Name), nil
}

// Missing returns those of the programs that the cache does not hold.
func (b *Builder) Missing(ps []Program) ([]Program, error) {
	var out []Program
	for _, p := range ps {
		file, err := b.Path(p)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(file); err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("cannot look into the cache: %w", err)
			}
			out = append(out, p)
		}
	}
	return out, nil
}

// Build makes those of the programs that the cache does not hold. The caller
// holds the cache's lock.
func (b *Builder) Build(ctx context.Context, ps []Program) error {
	missing, err := b.Missing(ps)
	if err != nil {
		return err
	}
	for _, p := range missing {
		err := b.log.Do(fmt.Sprintf("build %s %s", p.Name, p.Version), func() error { return b.build(ctx, p) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *Builder) build(ctx context.Context, p Program) error {
	final, err := b.Path(p)
	if err != nil {
		return err
	}
	dir := filepath.Join(b.cache, "build", p.Module)
	if err := writeSource(p.Module, dir); err != nil {
		return err
	}
	temp := filepath.Dir(final) + ".part"
	if err := os.RemoveAll(temp); err != nil {
		return fmt.Errorf("cannot clear an interrupted build: %w", err)
	}
	cmd := goCommand(ctx, dir, arguments(p, filepath.Join(temp, p.Name))...)
	cmd.Env = append(cmd.Env, "CGO_ENABLED="+map[bool]string{true: "1", false: "0"}[p.CGO])
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build %s: %w\n%s", p.Name, cause(ctx, err), bytes.TrimSpace(out))
	}
	if err := os.Rename(temp, filepath.Dir(final)); err != nil {
		return fmt.Errorf("cannot put %s into the cache: %w", p.Name, err)
	}
	return nil
}

func arguments(p Program, output string) []string {
	args := []string{"build", "-mod=readonly", "-trimpath", "-ldflags", p.LDFlags, "-o", output}
	if p.Tags != "" {
		args = append(args, "-tags", p.Tags)
	}
	return append(args, p.Package)
}

// ModuleDir returns the folder of the module's dependency with this path in
// Go's module cache, downloading it when needed.
func (b *Builder) ModuleDir(ctx context.Context, module, dependency string) (string, error) {
	dir := filepath.Join(b.cache, "build", module)
	if err := writeSource(module, dir); err != nil {
		return "", err
	}
	out, err := goCommand(ctx, dir, "mod", "download", "-json", dependency).Output()
	if err != nil {
		return "", fmt.Errorf("cannot download module %q: %w", dependency, cause(ctx, err))
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		return "", fmt.Errorf("cannot read answer of go mod download: %w", err)
	}
	return m.Dir, nil
}

// goCommand runs the go command without the caller's flags and workspace, which
// would otherwise change what is built. An interrupt reaches its compilers too.
func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOWORK=off", "GOOS=linux")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// cause prefers the reason why ctx ended to the signal that ended the command.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
