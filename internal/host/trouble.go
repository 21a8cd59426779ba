// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"fmt"
	"sync"
	"time"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// lastingAfter is how long a host's objects cannot be watched before what its cache
	// holds is taken for unknown. A host that starts anew is back sooner.
	lastingAfter = 5 * time.Minute
	// quietAfter is after which time without an error a watch is taken to work again. A
	// reflector tries at least once a minute.
	quietAfter = 2 * time.Minute
)

// trouble keeps why a host's objects could not be listed or watched last.
type trouble struct {
	clock clock.PassiveClock

	mu  sync.Mutex
	err error
	// since and at are when the errors began that went on until now, and when the last was.
	since, at time.Time
	// first is closed with the first error.
	first chan struct{}
}

func newTrouble(c clock.PassiveClock) *trouble {
	return &trouble{clock: c, first: make(chan struct{})}
}

// handle is a reflector's error handler. The reflector tries again by itself.
func (t *trouble) handle(_ context.Context, _ *toolscache.Reflector, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.err == nil {
		close(t.first)
	}

	now := t.clock.Now()
	if now.Sub(t.at) > quietAfter {
		t.since = now
	}

	t.err, t.at = err, now
}

func (t *trouble) last() error {
	t.mu.Lock()
	defer t.mu.Unlock()

	return t.err
}

// lasting is why some objects could not be watched for so long that the cache tells
// nothing of them any more; nil when all can be.
func (t *trouble) lasting() error {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.err == nil || t.clock.Since(t.at) > quietAfter || t.at.Sub(t.since) < lastingAfter {
		return nil
	}

	return fmt.Errorf("%w: its objects could not be watched since %s: %w", ErrUnreachable, t.since.UTC().Format(time.RFC3339), t.err)
}

// watchedReader reads from a cache as long as its watches work.
type watchedReader struct {
	client.Reader

	trouble *trouble
}

func (r watchedReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if err := r.trouble.lasting(); err != nil {
		return err
	}

	return r.Reader.Get(ctx, key, o, opts...)
}

func (r watchedReader) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	if err := r.trouble.lasting(); err != nil {
		return err
	}

	return r.Reader.List(ctx, l, opts...)
}
