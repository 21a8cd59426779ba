// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/figures"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// cpu is the CPU time of the benchmark itself and of each program that it has started, by
// the name of its file: on one machine they share its cores. An API server and an etcd
// are told apart by whose they are, as in "etcd (host)".
type cpu map[string]seconds

// owners say whose a process is, by its id.
type owners map[int]string

// running are the benchmark itself and the programs that it has started.
func running() ([]rig.Stat, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, fmt.Errorf("cannot list processes: %w", err)
	}

	var out []rig.Stat

	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // It has ended.
		}

		p, err := rig.ParseStat(string(raw))
		if err != nil {
			return nil, err
		}

		if p.PID == os.Getpid() || p.Parent == os.Getpid() {
			out = append(out, p)
		}
	}

	return out, nil
}

// add says whose those are that run now and did not run before.
func (o owners) add(owner string, before, now []rig.Stat) {
	for _, p := range now {
		if !slices.ContainsFunc(before, func(b rig.Stat) bool { return b.PID == p.PID }) {
			o[p.PID] = owner
		}
	}
}

// cpuNow is what all that run have taken until now.
func (o owners) cpuNow() (cpu, error) {
	all, err := running()
	if err != nil {
		return nil, err
	}

	out := cpu{}

	for _, p := range all {
		name := p.Name
		if owner := o[p.PID]; owner != "" {
			name += " (" + owner + ")"
		}

		out[name] += seconds(p.CPU)
	}

	return out, nil
}

// since is what was taken since before, by a Tenant.
func (c cpu) since(before cpu, tenants int) cpu {
	out := cpu{}
	for name, now := range c {
		out[name] = (now - before[name]).share(tenants)
	}

	return out
}

// whole is the sum.
func (c cpu) whole() string {
	if len(c) == 0 {
		return unmeasured
	}

	return figures.Sum(c).String()
}

// String is what each program took, the most first.
func (c cpu) String() string {
	if len(c) == 0 {
		return unmeasured
	}

	var parts []string

	for _, name := range slices.SortedFunc(maps.Keys(c), func(a, b string) int { return cmp.Or(cmp.Compare(c[b], c[a]), cmp.Compare(a, b)) }) {
		parts = append(parts, name+" "+c[name].String())
	}

	return strings.Join(parts, ", ")
}
