// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package lock keeps two runs from working on the same folder at once.
package lock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const poll = 250 * time.Millisecond

// Acquire takes the lock file at path, made when it does not exist, and returns
// what gives it back. While another process has it, Acquire calls waiting once
// with that process's id and goes on trying until ctx ends. The kernel drops
// the lock of a process that dies.
func Acquire(ctx context.Context, path string, waiting func(holder string)) (func(), error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, fmt.Errorf("cannot make folder of lock: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open lock: %w", err)
	}
	for told := false; ; {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			_ = f.Close()
			return nil, fmt.Errorf("cannot lock %q: %w", path, err)
		}
		if !told {
			told = true
			waiting(holder(path))
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, fmt.Errorf("cannot lock %q, held by process %s: %w", path, holder(path), context.Cause(ctx))
		case <-time.After(poll):
		}
	}
	// The id only informs whoever waits.
	_ = f.Truncate(0)
	_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return func() { _ = f.Close() }, nil
}

func holder(path string) string {
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 {
		return "unknown"
	}
	return strings.TrimSpace(string(b))
}
