// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
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

// rest is what the provider's process holds at rest.
type rest struct {
	rig.Footprint

	// Tenants are how many there were until then.
	Tenants int `json:"tenants"`
}

// rest waits until the provider has nothing to do, and measures what it still holds.
func (s *soak) rest(ctx context.Context) (*rest, error) {
	s.diary.say("measuring the provider at rest")

	f, err := s.provider.IdleFootprint(ctx)
	if err != nil {
		return nil, err
	}

	s.diary.say("at rest: %s", f)

	return &rest{Footprint: f, Tenants: s.lives.count()}, nil
}

// mayBeAdded is what the process may have more of after so many more Tenants.
func mayBeAdded(tenants int) rest {
	return rest{Tenants: tenants, Footprint: rig.Footprint{
		Goroutines: moreGoroutines, Descriptors: moreDescriptors,
		Heap: moreHeap + float64(tenants)*eventsOfTenant, Resident: moreResident,
	}}
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
