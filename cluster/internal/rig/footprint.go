// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// footprintEvery is how often a provider at rest is asked. That makes the garbage by
	// which the next collection comes.
	footprintEvery = 20 * time.Millisecond
	// collections of garbage until what only waits to be collected is gone.
	collections = 3
	// footprintLimit is for so many collections: Go collects every 2 minutes at the latest.
	footprintLimit = 8 * time.Minute
	// idleFor is more than idle connections live, and than what a creation leaves behind.
	idleFor = 95 * time.Second
)

// Footprint is what the provider's process holds, by its own metrics. Sizes are in bytes.
type Footprint struct {
	Goroutines  float64 `json:"goroutines"`
	Descriptors float64 `json:"descriptors"`
	Heap        float64 `json:"heapBytes"`
	Resident    float64 `json:"residentBytes"`

	collected float64 // when garbage was collected last, in Unix seconds
}

// String is for a person.
func (f Footprint) String() string {
	return fmt.Sprintf("%.0f goroutines, %.0f descriptors, heap %.1f MiB, resident %.1f MiB", f.Goroutines, f.Descriptors, f.Heap/(1<<20), f.Resident/(1<<20))
}

// least is the smaller of each, at the time of o.
func (f Footprint) least(o Footprint) Footprint {
	return Footprint{
		Goroutines: min(f.Goroutines, o.Goroutines), Descriptors: min(f.Descriptors, o.Descriptors),
		Heap: min(f.Heap, o.Heap), Resident: min(f.Resident, o.Resident), collected: o.collected,
	}
}

// Footprint of the provider now.
func (p *Provider) Footprint(ctx context.Context) (Footprint, error) {
	m, err := p.Metrics(ctx)
	if err != nil {
		return Footprint{}, err
	}

	var (
		f    Footprint
		errs []error
	)

	for name, to := range map[string]*float64{
		"go_goroutines": &f.Goroutines, "process_open_fds": &f.Descriptors, "go_memstats_heap_alloc_bytes": &f.Heap,
		"process_resident_memory_bytes": &f.Resident, "go_memstats_last_gc_time_seconds": &f.collected,
	} {
		v, err := m.Gauge(name)
		*to, errs = v, append(errs, err)
	}

	return f, errors.Join(errs...)
}

// LeastFootprint is what a provider that has nothing to do still holds: the least of each
// that is seen while its garbage is collected three times.
func (p *Provider) LeastFootprint(ctx context.Context) (Footprint, error) {
	least, err := p.Footprint(ctx)
	if err != nil {
		return Footprint{}, err
	}

	seen, last := 0, least.collected

	err = wait.PollUntilContextTimeout(ctx, footprintEvery, footprintLimit, true, func(ctx context.Context) (bool, error) {
		now, err := p.Footprint(ctx)
		if err != nil {
			return false, err
		}

		if now.collected != last {
			seen, last = seen+1, now.collected
		}

		least = least.least(now)

		return seen >= collections, nil
	})
	if err != nil {
		return Footprint{}, fmt.Errorf("cannot measure the provider at rest: %w", err)
	}

	return least, nil
}

// IdleFootprint is the least footprint of a provider that has had nothing to do for some
// time, so that no connection is left which nobody uses.
func (p *Provider) IdleFootprint(ctx context.Context) (Footprint, error) {
	Sleep(ctx, idleFor)

	return p.LeastFootprint(ctx)
}
