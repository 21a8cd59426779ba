// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// diary writes down with its time what is done, and counts it. It is safe for
// concurrent use.
type diary struct {
	out io.Writer

	mu      sync.Mutex
	counted tally
}

// tally is what a diary counts.
type tally struct {
	// operations and faults by their kind.
	operations, faults map[string]int
	// recoveries are how long Tenants took to be right again, by the operation.
	recoveries map[string][]time.Duration
	// wrongs are what must not be, each in a line with its time.
	wrongs []string
}

func newDiary(out io.Writer) *diary {
	return &diary{out: out, counted: tally{operations: map[string]int{}, faults: map[string]int{}, recoveries: map[string][]time.Duration{}}}
}

// say something to whoever follows.
func (d *diary) say(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.line(format, args...)
}

// line needs the lock.
func (d *diary) line(format string, args ...any) {
	_, _ = fmt.Fprintf(d.out, time.Now().UTC().Format("15:04:05.0")+" "+format+"\n", args...) // Nothing else could take it.
}

// operation was done to the Tenant.
func (d *diary) operation(kind, tenant string) {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.counted.operations[kind]++
	d.line("%s: %s", tenant, kind)
}

// fault was injected.
func (d *diary) fault(kind string) {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.counted.faults[kind]++
	d.line("fault: %s", kind)
}

// recovered says how long the Tenant took to be right again after an operation.
func (d *diary) recovered(kind, tenant string, after time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.counted.recoveries[kind] = append(d.counted.recoveries[kind], after)
	d.line("%s: right after %q in %.1f s", tenant, kind, after.Seconds())
}

// wrong is what must not be. The first line is kept for the end.
func (d *diary) wrong(what, details string) {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.counted.wrongs = append(d.counted.wrongs, time.Now().UTC().Format("15:04:05")+" "+what)
	d.line("WRONG: %s\n%s", what, details)
}

// wrongCount is how much was wrong so far.
func (d *diary) wrongCount() int {
	d.mu.Lock()
	defer d.mu.Unlock()

	return len(d.counted.wrongs)
}

// tally is a copy of what was counted so far.
func (d *diary) tally() tally {
	d.mu.Lock()
	defer d.mu.Unlock()

	out := tally{
		operations: maps.Clone(d.counted.operations), faults: maps.Clone(d.counted.faults),
		recoveries: map[string][]time.Duration{}, wrongs: slices.Clone(d.counted.wrongs),
	}
	for kind, all := range d.counted.recoveries {
		out.recoveries[kind] = slices.Clone(all)
	}

	return out
}
