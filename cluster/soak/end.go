// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// checkEnd holds what must be so when no Tenant is left. What is not is in the diary.
func (s *soak) checkEnd(ctx context.Context) error {
	s.checkBystander(ctx)

	begun := time.Now()
	patient := func() bool { return time.Since(begun) < leftBound }

	if err := until(ctx, patient, s.nothingMore); err != nil {
		s.diary.wrong(err.Error(), "")
	}

	for id, wasReady := range s.lives.cloudSpaces() {
		check := func(context.Context) error { return checkEnded(s.kubeopera.Reports(id), wasReady) }
		if err := until(ctx, patient, check); err != nil {
			s.diary.wrong(fmt.Sprintf("CloudSpace %s: %v", id, err), s.reportsOf(id))
		}
	}

	if panics := s.provider.TailOf("panic", 5); panics != "" {
		s.diary.wrong("the provider panicked", panics)
	}

	if err := leak(*s.early, *s.late); err != nil {
		s.diary.wrong(err.Error(), "")
	}

	return ctx.Err()
}

// nothingMore errs when the cluster holds what it did not before.
func (s *soak) nothingMore(ctx context.Context) error {
	now, err := s.cluster.Inventory(ctx)
	if err != nil {
		return err
	}

	more := slices.DeleteFunc(now, func(o string) bool { return slices.Contains(s.before, o) })
	if len(more) > 0 {
		return fmt.Errorf("left on the cluster: %s", strings.Join(more, ", "))
	}

	return nil
}

func (s *soak) reportsOf(id string) string {
	var b strings.Builder

	for _, r := range s.kubeopera.Reports(id) {
		fmt.Fprintf(&b, "  %s %s, generation %d: %s\n", stamp(r), r.Status, r.Generation, r.Message)
	}

	return b.String()
}
