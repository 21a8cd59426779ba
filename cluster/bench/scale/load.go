// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// usageEvery is how often the kernel is asked, which costs the provider nothing.
	usageEvery = 500 * time.Millisecond
	// heapEvery is how often the provider is asked when it is at rest. That makes the
	// garbage by which the next collection comes.
	heapEvery = 20 * time.Millisecond
	// collections of garbage until what only waits to be collected is gone.
	collections = 2
	// heapLimit is more than Go lets pass between two collections.
	heapLimit = 10 * time.Minute
)

// load is what the provider took over some time. Sizes are in bytes.
type load struct {
	// Cores are the CPU time by the time that passed.
	Cores float64 `json:"cores"`
	// Resident and Descriptors are the most that was seen.
	Resident    uint64 `json:"residentBytes"`
	Descriptors int    `json:"descriptors"`
	// Goroutines at the end.
	Goroutines float64 `json:"goroutines"`
}

// watchLoad watches what the provider takes until the function is called, which tells.
func (b *bed) watchLoad(ctx context.Context) func() (load, error) {
	var (
		out   load
		start = time.Now()
		p     = b.provider.Process()
	)

	first, err := p.Usage()
	done, ended := make(chan struct{}), make(chan struct{})

	go func() {
		defer close(ended)

		for {
			u, err := p.Usage()
			if err == nil {
				out.Resident, out.Descriptors = max(out.Resident, u.Resident), max(out.Descriptors, u.Descriptors)
			}

			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-time.After(usageEvery):
			}
		}
	}()

	return func() (load, error) {
		close(done)
		<-ended

		last, lastErr := p.Usage()
		out.Cores = (last.CPU - first.CPU).Seconds() / time.Since(start).Seconds()

		m, metricsErr := b.provider.Metrics(ctx)
		if metricsErr == nil {
			out.Goroutines, metricsErr = m.Gauge("go_goroutines")
		}

		return out, errors.Join(err, lastErr, metricsErr)
	}
}

// memory is what the provider holds. Sizes are in bytes.
type memory struct {
	// Heap is what a garbage collection leaves: the least that is seen.
	Heap       float64 `json:"heapBytes"`
	Resident   uint64  `json:"residentBytes"`
	Goroutines float64 `json:"goroutines"`
}

// memory of the provider, which has nothing to do.
func (b *bed) memory(ctx context.Context) (memory, error) {
	u, err := b.provider.Process().Usage()
	if err != nil {
		return memory{}, err
	}

	out, seen, last := memory{Resident: u.Resident}, -1, 0.0

	err = wait.PollUntilContextTimeout(ctx, heapEvery, heapLimit, true, func(ctx context.Context) (bool, error) {
		m, err := b.provider.Metrics(ctx)
		if err != nil {
			return false, err
		}

		collected, err := m.Gauge("go_memstats_last_gc_time_seconds")
		if err != nil {
			return false, err
		}

		heap, err := m.Gauge("go_memstats_heap_alloc_bytes")
		if err != nil {
			return false, err
		}

		if collected != last {
			seen, last = seen+1, collected
		}

		if out.Heap == 0 || heap < out.Heap {
			out.Heap = heap
		}

		out.Goroutines, err = m.Gauge("go_goroutines")

		return seen >= collections, err
	})
	if err != nil {
		return memory{}, fmt.Errorf("cannot measure the provider's heap: %w", err)
	}

	return out, nil
}
