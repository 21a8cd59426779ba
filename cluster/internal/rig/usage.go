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

	u := Usage{Descriptors: len(open)}
	if u.CPU, err = cpuOf(string(stat)); err != nil {
		return Usage{}, err
	}

	u.Resident, err = residentOf(string(statm))

	return u, err
}

var errProc = errors.New("cannot understand what the kernel says of a process")

// cpuOf is the time in user and in system mode of a stat file. The name of the program,
// in parentheses, may hold anything.
func cpuOf(stat string) (time.Duration, error) {
	const user, system = 11, 12 // After the name.

	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	if len(fields) <= system {
		return 0, fmt.Errorf("%w: %q", errProc, stat)
	}

	var sum time.Duration

	for _, f := range []string{fields[user], fields[system]} {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%w: %w", errProc, err)
		}

		sum += time.Duration(n) * ticks
	}

	return sum, nil
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
