// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticks are in which the kernel tells the time that processes took: 100 a second on
// all machines that Go runs on.
const ticks = time.Second / 100

// Usage is what a process has taken, as the kernel has it.
type Usage struct {
	// CPU time since the process began.
	CPU time.Duration
	// Resident memory in bytes.
	Resident uint64
	// Descriptors that are open.
	Descriptors int
}

// Usage of the process until now.
func (p *Process) Usage() (Usage, error) {
	dir := fmt.Sprintf("/proc/%d/", p.PID())

	stat, err := os.ReadFile(dir + "stat")
	if err != nil {
		return Usage{}, fmt.Errorf("cannot see what %q takes: %w", p.command.Path, err)
	}

	statm, err := os.ReadFile(dir + "statm")
	if err != nil {
		return Usage{}, fmt.Errorf("cannot see what %q takes: %w", p.command.Path, err)
	}

	open, err := os.ReadDir(dir + "fd")
	if err != nil {
		return Usage{}, fmt.Errorf("cannot see what %q takes: %w", p.command.Path, err)
	}

	s, err := ParseStat(string(stat))
	if err != nil {
		return Usage{}, err
	}

	u := Usage{CPU: s.CPU, Descriptors: len(open)}
	u.Resident, err = residentOf(string(statm))

	return u, err
}

var errProc = errors.New("cannot understand what the kernel says of a process")

// Stat is what the kernel says of a process in its file stat.
type Stat struct {
	PID, Parent int
	// Name of its program, of which the kernel keeps 15 bytes.
	Name string
	// CPU time since it began, in user and in system mode.
	CPU time.Duration
}

// ParseStat understands a file stat. The name of the program, in parentheses, may hold
// anything.
func ParseStat(stat string) (Stat, error) {
	const parent, user, system = 1, 11, 12 // After the name.

	pid, rest, named := strings.Cut(stat, " (")
	end := strings.LastIndex(rest, ")")

	if !named || end < 0 {
		return Stat{}, fmt.Errorf("%w: %q", errProc, stat)
	}

	fields := strings.Fields(rest[end+1:])
	if len(fields) <= system {
		return Stat{}, fmt.Errorf("%w: %q", errProc, stat)
	}

	var n [4]int64

	for i, f := range []string{pid, fields[parent], fields[user], fields[system]} {
		var err error
		if n[i], err = strconv.ParseInt(f, 10, 64); err != nil {
			return Stat{}, fmt.Errorf("%w: %w", errProc, err)
		}
	}

	return Stat{PID: int(n[0]), Parent: int(n[1]), Name: rest[:end], CPU: time.Duration(n[2]+n[3]) * ticks}, nil
}

func residentOf(statm string) (uint64, error) {
	fields := strings.Fields(statm)
	if len(fields) < 2 {
		return 0, fmt.Errorf("%w: %q", errProc, statm)
	}

	pages, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errProc, err)
	}

	return pages * uint64(os.Getpagesize()), nil //nolint:gosec // A page is no negative size.
}
