// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"testing"
)

func TestDeck(t *testing.T) {
	t.Parallel()

	want := map[string]int{}
	for _, d := range disturbances {
		want[d.name]++
	}

	d := &deck{rand: rand.New(rand.NewPCG(1, 2))}

	for round := range 2 {
		got := map[string]int{}
		for range disturbances {
			got[d.next().name]++
		}

		for name, n := range want {
			if got[name] != n {
				t.Errorf("Round %d: each comes once before any comes again: want %q %d times, got %d", round, name, n, got[name])
			}
		}
	}
}
