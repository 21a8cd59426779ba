// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestAcquire(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "folder", "lock")
	never := func(holder string) { t.Errorf("waiting for %s, though nobody holds the lock", holder) }
	unlock, err := Acquire(t.Context(), path, never)
	if err != nil {
		t.Fatal(err)
	}

	why := errors.New("long enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	told := 0
	_, err = Acquire(ctx, path, func(holder string) {
		told++
		if want := strconv.Itoa(os.Getpid()); holder != want {
			t.Errorf("holder is %q, want %q", holder, want)
		}
		cancel(why)
	})
	if !errors.Is(err, why) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("Acquire(...) of a held lock = %v, want the reason and the holder", err)
	}
	if told != 1 {
		t.Errorf("told %d times that it waits, want once", told)
	}

	unlock()
	again, err := Acquire(t.Context(), path, never)
	if err != nil {
		t.Fatalf("Acquire(...) of a lock given back: %v", err)
	}
	again()
}

func TestAcquireWaits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := Acquire(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	second, err := Acquire(ctx, path, func(string) { unlock() })
	if err != nil {
		t.Fatalf("Acquire(...) of a lock that becomes free: %v", err)
	}
	second()
}
