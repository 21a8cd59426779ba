// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

const (
	// idleFor is more than idle connections live.
	idleFor = 95 * time.Second
	// sampleEvery is how often the process is measured at rest. That makes the garbage
	// by which the next collection comes.
	sampleEvery = 50 * time.Millisecond
	// collections of garbage until what only waits to be collected is gone.
	collections = 3
	// restLimit bounds a measurement: Go collects every 2 minutes at the latest.
	restLimit = 8 * time.Minute
)

// What the process may have more of at the second rest than at the first. No Tenant
// is there at either, so that nothing of those that came and went between may be left
// but what client-go remembers of their events, so as not to repeat itself.
const (
	// A connection to the host that was made anew is read and written by two
	// goroutines, and may end later than the one it replaces.
	moreGoroutines = 5
	// Such a connection is one, and a log or a chart that is open at that moment another.
	moreDescriptors = 3
	// The least of the heap after a collection differs by up to 2 MiB from one look to
	// the next.
	moreHeap = 3 << 20
	// eventsOfTenant is that memory of its events.
	eventsOfTenant = 32 << 10
	// Go gives pages back late. What leaks shows in the heap.
	moreResident = 32 << 20
)

var errLeak = errors.New("the provider leaks")

// rest is what the provider's process holds. Sizes are in bytes.
type rest struct {
	// Tenants are how many there were until then.
	Tenants     int     `json:"tenants"`
	Goroutines  float64 `json:"goroutines"`
	Descriptors float64 `json:"descriptors"`
	Heap        float64 `json:"heapBytes"`
	Resident    float64 `json:"residentBytes"`

	collected float64 // when garbage was collected last
}

// String is for a person.
func (r rest) String() string {
	return fmt.Sprintf("%.0f goroutines, %.0f descriptors, heap %.1f MiB, resident %.1f MiB", r.Goroutines, r.Descriptors, r.Heap/(1<<20), r.Resident/(1<<20))
}

// readProcess measures the provider's process now.
func readProcess(ctx context.Context, p *rig.Provider) (rest, error) {
	m, err := p.Metrics(ctx)
	if err != nil {
		return rest{}, err
	}

	var (
		r    rest
		errs []error
	)

	for name, to := range map[string]*float64{
		"go_goroutines": &r.Goroutines, "process_open_fds": &r.Descriptors, "go_memstats_heap_alloc_bytes": &r.Heap,
		"process_resident_memory_bytes": &r.Resident, "go_memstats_last_gc_time_seconds": &r.collected,
	} {
		v, err := m.Gauge(name)
		*to, errs = v, append(errs, err)
	}

	return r, errors.Join(errs...)
}

// rest waits until the provider has nothing to do, and measures what it still holds:
// the least that is seen.
func (s *soak) rest(ctx context.Context) (*rest, error) {
	s.diary.say("measuring the provider at rest")
	sleep(ctx, idleFor)

	least, err := readProcess(ctx, s.provider)
	if err != nil {
		return nil, err
	}

	seen, last := 0, least.collected

	err = wait.PollUntilContextTimeout(ctx, sampleEvery, restLimit, true, func(ctx context.Context) (bool, error) {
		now, err := readProcess(ctx, s.provider)
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
		return nil, fmt.Errorf("cannot measure the provider at rest: %w", err)
	}

	least.Tenants = s.lives.count()
	s.diary.say("at rest: %s", least)

	return &least, nil
}

func (r rest) least(o rest) rest {
	return rest{
		Goroutines: min(r.Goroutines, o.Goroutines), Descriptors: min(r.Descriptors, o.Descriptors),
		Heap: min(r.Heap, o.Heap), Resident: min(r.Resident, o.Resident), collected: o.collected,
	}
}

// mayBeAdded is what the process may have more of after so many more Tenants.
func mayBeAdded(tenants int) rest {
	return rest{
		Tenants: tenants, Goroutines: moreGoroutines, Descriptors: moreDescriptors,
		Heap: moreHeap + float64(tenants)*eventsOfTenant, Resident: moreResident,
	}
}

// leak errs when late is more than early and what may be added.
func leak(early, late rest) error {
	var errs []error

	tenants := late.Tenants - early.Tenants
	bound := mayBeAdded(tenants)

	for _, m := range []struct {
		what               string
		early, late, bound float64
	}{
		{"goroutines", early.Goroutines, late.Goroutines, bound.Goroutines},
		{"open descriptors", early.Descriptors, late.Descriptors, bound.Descriptors},
		{"bytes of heap", early.Heap, late.Heap, bound.Heap},
		{"bytes of resident memory", early.Resident, late.Resident, bound.Resident},
	} {
		if m.late > m.early+m.bound {
			errs = append(errs, fmt.Errorf("%w: %.0f %s, early %.0f, at most %.0f more after %d Tenants", errLeak, m.late, m.what, m.early, m.bound, tenants))
		}
	}

	return errors.Join(errs...)
}
