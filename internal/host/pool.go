// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/kubeopera/provider-kubeopera/internal/glance"
)

// ErrUnreachable says that the host cluster cannot be read, since it does not
// answer or forbids it. What is on it is unknown.
var ErrUnreachable = errors.New("host cluster cannot be read")

// startWait bounds how long one caller waits for a new host.
const startWait = 5 * time.Second

// idle is how long a host stays that nobody asked for, such as one whose
// credentials were replaced. It is made anew when it is asked for again. Glances use it
// without asking, and a cache that was stopped tells them of no change.
const idle = 2 * glance.Longest

// Pool keeps one Host a cluster.
type Pool struct {
	clock  clock.PassiveClock
	open   func(ctx context.Context, cfg *rest.Config, notify Notify) (*Host, error)
	ctx    context.Context //nolint:containedctx // It bounds the life of what the pool starts.
	cancel context.CancelFunc

	starting singleflight.Group

	mu     sync.Mutex
	notify Notify
	hosts  map[string]*entry
	// failed is why the host of a key could not be made last.
	failed map[string]failure
}

type failure struct {
	err error
	at  time.Time
}

type entry struct {
	host   *Host
	stop   context.CancelFunc
	wanted time.Time
}

// NewPool makes an empty pool. It is a manager's Runnable: its hosts stop with
// the manager.
func NewPool() *Pool {
	ctx, cancel := context.WithCancel(context.Background())

	return &Pool{
		clock:  clock.RealClock{},
		open:   newHost,
		ctx:    ctx,
		cancel: cancel,
		notify: func(types.NamespacedName, bool) {},
		hosts:  map[string]*entry{},
		failed: map[string]failure{},
	}
}

// Start blocks until ctx ends and then stops all hosts.
func (p *Pool) Start(ctx context.Context) error {
	<-ctx.Done()
	p.cancel()

	return nil
}

// Notify is told of each Tenant that something changed for on its host. Listed says
// that it was only found when the host began to be watched, and may be as it was.
type Notify func(t types.NamespacedName, listed bool)

// Notify sets who is told.
func (p *Pool) Notify(fn Notify) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.notify = fn
}

func (p *Pool) tell(t types.NamespacedName, listed bool) {
	p.mu.Lock()
	fn := p.notify
	p.mu.Unlock()

	fn(t, listed)
}

// Get returns the host of that key, which stands for one set of credentials.
// The first caller's config makes it. It waits a few seconds at most for a new
// host and errs with ErrUnreachable when that takes longer or is refused; the
// host goes on starting meanwhile, and no other host waits for it. A host whose
// objects could not be listed yet comes with the error: it serves for all but Cached.
func (p *Pool) Get(ctx context.Context, key string, config func() (*rest.Config, error)) (*Host, error) {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()

	h, ok := p.known(key)
	if !ok {
		cfg, err := config()
		if err != nil {
			return nil, err
		}

		if h, err = p.start(ctx, key, cfg); err != nil {
			return nil, err
		}
	}

	return h, h.wait(ctx)
}

func (p *Pool) known(key string) (*Host, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()

	e, ok := p.hosts[key]
	if ok {
		e.wanted = p.clock.Now()
	}

	p.dropIdle()

	if !ok {
		return nil, false
	}

	return e.host, true
}

// start the host of that key, once for all who ask meanwhile.
func (p *Pool) start(ctx context.Context, key string, cfg *rest.Config) (*Host, error) {
	started := p.starting.DoChan(key, func() (any, error) {
		if h, ok := p.known(key); ok {
			return h, nil
		}

		ctx, stop := context.WithCancel(p.ctx)

		h, err := p.open(ctx, cfg, p.tell)
		if err != nil {
			stop()
			p.fail(key, err)

			return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
		}

		p.keep(key, &entry{host: h, stop: stop})

		return h, nil
	})

	select {
	case r := <-started:
		if r.Err != nil {
			return nil, r.Err
		}

		return r.Val.(*Host), nil //nolint:forcetypeassert // It is what the function above returns.
	case <-ctx.Done():
		if err := p.lastFailure(key); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
		}

		return nil, fmt.Errorf("%w: no answer within %s: %w", ErrUnreachable, startWait, ctx.Err())
	}
}

func (p *Pool) fail(key string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.failed[key] = failure{err, p.clock.Now()}
}

// lastFailure is why the host of that key could not be made last, if it was tried.
func (p *Pool) lastFailure(key string) error {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.failed[key].err
}

func (p *Pool) keep(key string, e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()

	e.wanted = p.clock.Now()
	p.hosts[key] = e
	delete(p.failed, key)
}

func (p *Pool) dropIdle() {
	for k, e := range p.hosts {
		if p.clock.Since(e.wanted) > idle {
			e.stop()
			delete(p.hosts, k)
		}
	}

	maps.DeleteFunc(p.failed, func(_ string, f failure) bool { return p.clock.Since(f.at) > idle })
}
