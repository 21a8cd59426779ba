// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stat is a line of /proc/PID/stat.
func statLine(pid int, command, state string, start uint64) string {
	return fmt.Sprintf("%d (%s) %s 1 %s%d 0 0\n", pid, command, state, strings.Repeat("0 ", 17), start)
}

// fakeProc makes a folder like /proc with one process.
func fakeProc(t *testing.T, pid int, stat string) string {
	t.Helper()
	proc := t.TempDir()
	addProcess(t, proc, pid, stat)
	return proc
}

func addProcess(t *testing.T, proc string, pid int, stat string) string {
	t.Helper()
	dir := filepath.Join(proc, fmt.Sprint(pid))
	if err := os.MkdirAll(filepath.Join(dir, "ns"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "stat"), []byte(stat), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestParseStat(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		line   string
		state  string
		start  uint64
		fails  bool
	}{
		"Plain":       {reason: "the usual line", line: statLine(7, "etcd", "S", 4711), state: "S", start: 4711},
		"Parentheses": {reason: "a command may hold what ends it, and look like fields", line: statLine(7, "a) R 1 (b", "D", 12), state: "D", start: 12},
		"Short":       {reason: "a line that is cut off", line: "7 (etcd) S 1 0", fails: true},
		"Empty":       {reason: "no line at all", fails: true},
		"NoNumber":    {reason: "a start that is no number", line: strings.Replace(statLine(7, "x", "S", 999), "999", "soon", 1), fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state, start, err := parseStat([]byte(tc.line))
			if (err != nil) != tc.fails {
				t.Fatalf("%s: parseStat(...) error: %v", tc.reason, err)
			}
			if state != tc.state || start != tc.start {
				t.Errorf("%s: parseStat(...) = %q, %d, want %q, %d", tc.reason, state, start, tc.state, tc.start)
			}
		})
	}
}

func TestAlive(t *testing.T) {
	t.Parallel()
	r := Record{PID: 7, Start: 100}
	cases := map[string]struct {
		reason string
		stat   string
		alive  bool
		listed bool
	}{
		"Same":   {reason: "the recorded process", stat: statLine(7, "x", "S", 100), alive: true, listed: true},
		"Reused": {reason: "another process has got the id", stat: statLine(7, "x", "S", 101)},
		"Zombie": {reason: "an ended process that nobody has waited for", stat: statLine(7, "x", "Z", 100), listed: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proc := fakeProc(t, 7, tc.stat)
			if got := r.Alive(proc); got != tc.alive {
				t.Errorf("%s: Alive(...) = %t", tc.reason, got)
			}
			if got := listed(proc, r); got != tc.listed {
				t.Errorf("%s: listed(...) = %t", tc.reason, got)
			}
		})
	}
	if r.Alive(t.TempDir()) {
		t.Error("a process that is not there is alive")
	}
	if _, err := Look(t.TempDir(), 7); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Look(...) = %v, want %v", err, fs.ErrNotExist)
	}
}

func TestRecords(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "pids")
	if got, err := LoadAll(folder); err != nil || len(got) != 0 {
		t.Errorf("LoadAll(...) of nothing = %v, %v", got, err)
	}
	want := Record{PID: 7, Start: 1 << 40}
	if err := Save(folder, "etcd", want); err != nil {
		t.Fatal(err)
	}
	if got, err := Load(folder, "etcd"); err != nil || got != want {
		t.Errorf("Load(...) = %v, %v, want %v", got, err, want)
	}
	if _, err := Load(folder, "kubelet"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Load(...) of a daemon that was never started = %v, want %v", err, fs.ErrNotExist)
	}
	if err := os.WriteFile(filepath.Join(folder, "kubelet.json"), []byte(`{"pi`), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := LoadAll(folder)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Record{want}, got); diff != "" {
		t.Errorf("a half-written record spoils the others: -want +got:\n%s", diff)
	}
}
