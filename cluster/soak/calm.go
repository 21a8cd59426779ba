// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sync"
	"time"
)

// calm knows when nothing was disturbed: the provider gets only that time to mend
// what is broken. It is safe for concurrent use.
type calm struct {
	mu  sync.Mutex
	now func() time.Time
	// open are the disturbances that have not ended, begun when the first of them did.
	open  int
	begun time.Time
	// ended are the spans that were disturbed, in order, without an overlap.
	ended []span
}

type span struct{ from, to time.Time }

func newCalm() *calm { return &calm{now: time.Now} }

// disturb says that a disturbance begins. The function says that it ends.
func (c *calm) disturb() (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.open == 0 {
		c.begun = c.now()
	}

	c.open++

	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()

		if c.open--; c.open == 0 {
			c.ended = append(c.ended, span{from: c.begun, to: c.now()})
		}
	})
}

// since is how much of the time since then was calm.
func (c *calm) since(then time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()

	now := c.now()
	total := now.Sub(then)

	for _, s := range c.ended {
		total -= overlap(s, span{from: then, to: now})
	}

	if c.open > 0 {
		total -= overlap(span{from: c.begun, to: now}, span{from: then, to: now})
	}

	return total
}

// overlap is how much of a is in b.
func overlap(a, b span) time.Duration {
	from, to := a.from, a.to
	if b.from.After(from) {
		from = b.from
	}

	if b.to.Before(to) {
		to = b.to
	}

	return max(0, to.Sub(from))
}
