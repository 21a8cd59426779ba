// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"fmt"
	"maps"
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
	// failing are the reflectors, one for each kind, that failed lately.
	failing map[*toolscache.Reflector]failing
	// first is closed with the first error.
	first chan struct{}
}

// failing is why a reflector failed last, and since when and until when it has.
type failing struct {
	err       error
	since, at time.Time
}

func newTrouble(c clock.PassiveClock) *trouble {
	return &trouble{clock: c, failing: map[*toolscache.Reflector]failing{}, first: make(chan struct{})}
}

// handle is a reflector's error handler. The reflector tries again by itself.
func (t *trouble) handle(_ context.Context, r *toolscache.Reflector, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.err == nil {
		close(t.first)
	}

	t.err = err

	now := t.clock.Now()
	maps.DeleteFunc(t.failing, func(_ *toolscache.Reflector, f failing) bool { return now.Sub(f.at) > quietAfter })

	f, ok := t.failing[r]
	if !ok {
		f.since = now
	}

	f.err, f.at = err, now
	t.failing[r] = f
}

func (t *trouble) last() error {
	t.mu.Lock()
	defer t.mu.Unlock()

	return t.err
}

// lasting is why some kind could not be watched for so long that the cache tells nothing
// of it any more; nil when all can be. Of several it is the one that began first.
func (t *trouble) lasting() error {
	t.mu.Lock()
	defer t.mu.Unlock()

	var first failing

	for _, f := range t.failing {
		if t.clock.Since(f.at) <= quietAfter && f.at.Sub(f.since) >= lastingAfter && (first.err == nil || f.since.Before(first.since)) {
			first = f
		}
	}

	if first.err == nil {
		return nil
	}

	return fmt.Errorf("%w: its objects could not be watched since %s: %w", ErrUnreachable, first.since.UTC().Format(time.RFC3339), first.err)
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
