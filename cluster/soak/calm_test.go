// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"
)

func TestCalm(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	c := newCalm()
	c.now = func() time.Time { return now }
	pass := func(d time.Duration) { now = now.Add(d) }
	begun := now
	check := func(reason string, since time.Time, want time.Duration) {
		t.Helper()

		if got := c.since(since); got != want {
			t.Errorf("%s\nsince(...): want %s, got %s", reason, want, got)
		}
	}

	pass(10 * time.Second)
	check("All is calm at first.", begun, 10*time.Second)

	one := c.disturb()

	pass(5 * time.Second)
	check("What is disturbed does not count while it lasts.", begun, 10*time.Second)

	two := c.disturb()

	pass(5 * time.Second)
	one()
	one()
	pass(5 * time.Second)
	check("Two that overlap are one, which ends with the last.", begun, 10*time.Second)

	two()

	quiet := now

	pass(20 * time.Second)
	check("Nor does it count afterwards.", begun, 30*time.Second)
	check("Only what comes after a time counts.", quiet, 20*time.Second)
	check("A time within what was disturbed counts from its end.", quiet.Add(-7*time.Second), 20*time.Second)
}
