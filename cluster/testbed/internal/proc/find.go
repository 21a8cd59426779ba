// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// InNetwork returns the processes that are in the network namespace with this
// inode, as a link in /proc shows it.
func InNetwork(proc string, inode uint64) ([]Record, error) {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil, fmt.Errorf("cannot list processes: %w", err)
	}
	want := fmt.Sprintf("net:[%d]", inode)
	var out []Record
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		// A process may end at any moment, so what cannot be read is gone.
		link, err := os.Readlink(filepath.Join(proc, e.Name(), "ns", "net"))
		if err != nil || link != want {
			continue
		}
		if r, err := Look(proc, pid); err == nil {
			out = append(out, r)
		}
	}
	return out, nil
}

// Ancestors returns the ids of this process and of those that it descends from.
func Ancestors(proc string) map[int]bool {
	out := map[int]bool{}
	for pid := os.Getpid(); pid > 0 && !out[pid]; {
		out[pid] = true
		parent, err := parentOf(proc, pid)
		if err != nil {
			break
		}
		pid = parent
	}
	return out
}

func parentOf(proc string, pid int) (int, error) {
	b, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if value, ok := strings.CutPrefix(line, "PPid:"); ok {
			return strconv.Atoi(strings.TrimSpace(value))
		}
	}
	return 0, fmt.Errorf("cannot find parent of process %d", pid)
}
