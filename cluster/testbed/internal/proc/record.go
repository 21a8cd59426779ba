// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package proc starts the cluster's daemons, remembers them, and finds and ends
// all that belongs to a cluster and nothing else.
package proc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Record identifies a process for good: process ids are used again, a process
// id together with the time at which the process started is not.
type Record struct {
	PID int `json:"pid"`
	// Start is the process's start in clock ticks since the machine's boot.
	Start uint64 `json:"start"`
}

// Proc is where the kernel shows processes.
const Proc = "/proc"

// Look returns the Record of the process that has this id now. A process that
// has ended and was not yet waited for counts as gone: fs.ErrNotExist.
func Look(proc string, pid int) (Record, error) {
	state, start, err := stat(proc, pid)
	if err != nil {
		return Record{}, fmt.Errorf("cannot look at process %d: %w", pid, err)
	}
	if state == "Z" || state == "X" {
		return Record{}, fmt.Errorf("process %d has ended: %w", pid, fs.ErrNotExist)
	}
	return Record{PID: pid, Start: start}, nil
}

// listed says whether the process is in the list of processes, ended or not.
func listed(proc string, r Record) bool {
	_, start, err := stat(proc, r.PID)
	return err == nil && start == r.Start
}

func stat(proc string, pid int) (state string, start uint64, err error) {
	b, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "stat"))
	if err != nil {
		return "", 0, err
	}
	return parseStat(b)
}

// parseStat returns the state and start time of a line of /proc/PID/stat. The
// second field is the command in parentheses and may hold any character.
func parseStat(b []byte) (state string, start uint64, err error) {
	end := bytes.LastIndexByte(b, ')')
	if end < 0 {
		return "", 0, fmt.Errorf("cannot find command in %q", b)
	}
	// What follows starts with field 3, the state; field 22 is the start time.
	fields := strings.Fields(string(b[end+1:]))
	if len(fields) < 20 {
		return "", 0, fmt.Errorf("cannot find start time in %q", b)
	}
	start, err = strconv.ParseUint(fields[19], 10, 64)
	if err != nil {
		return "", 0, fmt.Errorf("cannot read start time: %w", err)
	}
	return fields[0], start, nil
}

// Alive says whether the recorded process still runs.
func (r Record) Alive(proc string) bool {
	now, err := Look(proc, r.PID)
	return err == nil && now == r
}

// Save writes the Record of the named daemon into the folder.
func Save(folder, name string, r Record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("cannot record process: %w", err)
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return fmt.Errorf("cannot record process: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".json"), b, 0o600); err != nil {
		return fmt.Errorf("cannot record process: %w", err)
	}
	return nil
}

// Load reads the Record of the named daemon. None is fs.ErrNotExist.
func Load(folder, name string) (Record, error) {
	b, err := os.ReadFile(filepath.Join(folder, name+".json"))
	if err != nil {
		return Record{}, fmt.Errorf("cannot read record of %s: %w", name, err)
	}
	var r Record
	if err := json.Unmarshal(b, &r); err != nil {
		return Record{}, fmt.Errorf("cannot read record of %s: %w", name, err)
	}
	return r, nil
}

// LoadAll reads the Records of the folder. One that an interrupted run left
// half-written names no process and is left out.
func LoadAll(folder string) ([]Record, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read records: %w", err)
	}
	var out []Record
	for _, e := range entries {
		if r, err := Load(folder, strings.TrimSuffix(e.Name(), ".json")); err == nil {
			out = append(out, r)
		}
	}
	return out, nil
}
