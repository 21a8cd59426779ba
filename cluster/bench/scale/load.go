// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"time"
)

// usageEvery is how often the kernel is asked, which costs the provider nothing.
const usageEvery = 500 * time.Millisecond

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
