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
// the name of its file: on one machine they share its cores.
type cpu map[string]seconds

// cpuNow is what they have taken until now. The API servers of the host and of all tenants
// count together.
func cpuNow() (cpu, error) {
	out := cpu{}

	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, fmt.Errorf("cannot list processes: %w", err)
	}

	for _, file := range stats {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // It has ended.
		}

		p, err := rig.ParseStat(string(raw))
		if err != nil {
			return nil, err
		}

		if p.PID == os.Getpid() || p.Parent == os.Getpid() {
			out[p.Name] += seconds(p.CPU)
		}
	}

	return out, nil
}

// since is what was taken since before, by a Tenant.
func (c cpu) since(before cpu, tenants int) cpu {
	out := cpu{}
	for name, now := range c {
		out[name] = (now - before[name]) / seconds(tenants)
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
