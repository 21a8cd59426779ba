// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestUsage(t *testing.T) {
	t.Parallel()

	p, err := StartProcess(exec.Command("sleep", "60"), filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = p.End(syscall.SIGKILL) })

	u, err := p.Usage()
	if err != nil || u.Resident == 0 || u.Descriptors < 2 || u.CPU > time.Minute {
		t.Errorf("it takes %+v, %v", u, err)
	}

	if err := p.End(syscall.SIGTERM); err != nil || p.Runs() {
		t.Errorf("it runs: %t, %v", p.Runs(), err)
	}

	if _, err := p.Usage(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of a process that is gone: %v", err)
	}
}

func TestParseStat(t *testing.T) {
	t.Parallel()

	const stat = "4711 (a (b) c) S 1 4711 4711 0 -1 4194560 1 2 3 4 150 50 7 8 20 0 12 0 1 2 3"

	want := Stat{PID: 4711, Parent: 1, Name: "a (b) c", CPU: 2 * time.Second}
	if got, err := ParseStat(stat); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}

	for _, wrong := range []string{"", "4711 (a) S 1", "4711 (a) S 1 4711 4711 0 -1 4194560 1 2 3 4 x 50"} {
		if _, err := ParseStat(wrong); !errors.Is(err, errProc) {
			t.Errorf("of %q: %v", wrong, err)
		}
	}

	for _, wrong := range []string{"", "1", "1 x"} {
		if _, err := residentOf(wrong); !errors.Is(err, errProc) {
			t.Errorf("of %q: %v", wrong, err)
		}
	}
}
