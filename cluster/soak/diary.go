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

	mu     sync.Mutex
	did    map[string]int
	faults map[string]int
	mended map[string][]time.Duration
	wrongs []string
}

func newDiary(out io.Writer) *diary {
	return &diary{out: out, did: map[string]int{}, faults: map[string]int{}, mended: map[string][]time.Duration{}}
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

	d.did[kind]++
	d.line("%s: %s", tenant, kind)
}

// fault was injected.
func (d *diary) fault(kind string) {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.faults[kind]++
	d.line("fault: %s", kind)
}

// recovered says how long the Tenant took to be right again after an operation.
func (d *diary) recovered(kind, tenant string, after time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.mended[kind] = append(d.mended[kind], after)
	d.line("%s: right after %q in %.1f s", tenant, kind, after.Seconds())
}

// wrong is what must not be. The first line is kept for the end.
func (d *diary) wrong(what, details string) {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.wrongs = append(d.wrongs, time.Now().UTC().Format("15:04:05")+" "+what)
	d.line("WRONG: %s\n%s", what, details)
}

// figures are what was counted so far.
func (d *diary) figures() (did, faults map[string]int, mended map[string][]time.Duration, wrongs []string) {
	d.mu.Lock()
	defer d.mu.Unlock()

	mended = map[string][]time.Duration{}
	for kind, all := range d.mended {
		mended[kind] = slices.Clone(all)
	}

	return maps.Clone(d.did), maps.Clone(d.faults), mended, slices.Clone(d.wrongs)
}
