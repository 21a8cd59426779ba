// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package glance

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Longest is for how long glances stand in for a look, at most. What a look reads from
// has to stay open for longer.
const Longest = 2 * lasts

const (
	// lasts is for how long glances stand in for a look at least. For how long exactly
	// differs, so that not all objects of one age are looked at at once.
	lasts = 30 * time.Minute
	// askTimeout bounds a glance: an API server may hang.
	askTimeout = 5 * time.Second
)

// Memory keeps the last look at each object that was as it should be. It is safe for
// concurrent use, as long as one object is in the hands of one reconcile at a time.
type Memory struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	looks map[types.UID]kept
}

// kept is the last look at an object, and what it came to.
type kept struct {
	look *Look
	// version of the object itself.
	version string
	found   managed.ExternalObservation
	until   time.Time
}

// NewMemory makes an empty memory.
func NewMemory(c clock.PassiveClock) *Memory {
	return &Memory{clock: c, looks: map[types.UID]kept{}}
}

// Keep what the look l at o came to. It has to come to the same again as long as
// nothing changes that it has read.
func (m *Memory) Keep(o client.Object, l *Look, found managed.ExternalObservation) {
	now := m.clock.Now()
	until := now.Add(wait.Jitter(lasts, 1))

	m.mu.Lock()
	defer m.mu.Unlock()

	// Not everyone who lets go of an object says so here.
	maps.DeleteFunc(m.looks, func(_ types.UID, k kept) bool { return !now.Before(k.until) })

	m.looks[o.GetUID()] = kept{look: l, version: o.GetResourceVersion(), found: found, until: until}
}

// Same is what a look at o would come to, if that is what the last one came to that was
// kept. If anything was changed since, or cannot be asked for, the last one is forgotten.
func (m *Memory) Same(ctx context.Context, o client.Object) (managed.ExternalObservation, bool) {
	m.mu.Lock()
	k, ok := m.looks[o.GetUID()]
	m.mu.Unlock()

	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()

	if ok && k.version == o.GetResourceVersion() && m.clock.Now().Before(k.until) && k.look.same(ctx) {
		return k.found, true
	}

	m.Forget(o)

	return managed.ExternalObservation{}, false
}

// Forget the last look at o.
func (m *Memory) Forget(o client.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()

	delete(m.looks, o.GetUID())
}

// Seen is the external client of an object that was glanced at only: it observes that.
func Seen[T resource.Managed](found managed.ExternalObservation) managed.TypedExternalClient[T] {
	return managed.TypedExternalClientFns[T]{
		ObserveFn:    func(context.Context, T) (managed.ExternalObservation, error) { return found, nil },
		DisconnectFn: func(context.Context) error { return nil },
	}
}
