// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
)

var epoch = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

var errInjected = errors.New("injected failure")

func closed() chan struct{} {
	out := make(chan struct{})
	close(out)

	return out
}

// openFn is what makes a host.
type openFn = func(context.Context, *rest.Config, Notify) (*Host, error)

// openSynced makes hosts that are ready at once.
func openSynced(context.Context, *rest.Config, Notify) (*Host, error) {
	return &Host{ready: closed(), trouble: newTrouble(clock.RealClock{})}, nil
}

func newTestPool(t *testing.T, open openFn) (*Pool, *clocktesting.FakePassiveClock) {
	t.Helper()

	p, clk := NewPool(), clocktesting.NewFakePassiveClock(epoch)
	p.clock, p.open = clk, open
	t.Cleanup(p.cancel)

	return p, clk
}

func noConfig() (*rest.Config, error) { return &rest.Config{}, nil }

// TestPoolStartsAHostOnce holds that callers of one key share one host, however
// many ask at once.
func TestPoolStartsAHostOnce(t *testing.T) {
	t.Parallel()

	const callers = 50

	var opened atomic.Int64

	entered := make(chan struct{}, callers)
	release := make(chan struct{})

	p, _ := newTestPool(t, func(ctx context.Context, cfg *rest.Config, n Notify) (*Host, error) {
		opened.Add(1)
		<-release

		return openSynced(ctx, cfg, n)
	})

	hosts := make([]*Host, callers)

	var wg sync.WaitGroup

	for i := range callers {
		wg.Go(func() {
			h, err := p.Get(t.Context(), "one", func() (*rest.Config, error) {
				entered <- struct{}{}
				return &rest.Config{}, nil
			})
			if err != nil {
				t.Error(err)
			}

			hosts[i] = h
		})
	}

	for range callers {
		<-entered
	}

	close(release)
	wg.Wait()

	if opened.Load() != 1 {
		t.Errorf("opened %d hosts, want 1", opened.Load())
	}

	for _, h := range hosts {
		if h == nil || h != hosts[0] {
			t.Fatal("callers of one key have different hosts")
		}
	}

	// Later callers have it without a config.
	h, err := p.Get(t.Context(), "one", func() (*rest.Config, error) { return nil, errInjected })
	if err != nil || h != hosts[0] {
		t.Errorf("a host that is there was asked for its config: %v", err)
	}
}

// TestPoolKeysAreApart holds that one host that does not answer delays no other
// , and that it goes on starting for those who come later.
func TestPoolKeysAreApart(t *testing.T) {
	t.Parallel()

	var opened atomic.Int64

	stuck, release := make(chan struct{}), make(chan struct{})

	p, _ := newTestPool(t, func(ctx context.Context, cfg *rest.Config, n Notify) (*Host, error) {
		if cfg.Host == "stuck" {
			opened.Add(1)
			close(stuck)
			<-release
		}

		return openSynced(ctx, cfg, n)
	})

	of := func(host string) func() (*rest.Config, error) {
		return func() (*rest.Config, error) { return &rest.Config{Host: host}, nil }
	}

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)

	go func() {
		_, err := p.Get(ctx, "stuck", of("stuck"))
		done <- err
	}()

	<-stuck

	if _, err := p.Get(t.Context(), "other", of("other")); err != nil {
		t.Errorf("the other host: %v", err)
	}

	cancel()

	if err := <-done; !errors.Is(err, ErrUnreachable) {
		t.Errorf("want ErrUnreachable, got %v", err)
	}

	close(release)

	if _, err := p.Get(t.Context(), "stuck", of("stuck")); err != nil || opened.Load() != 1 {
		t.Errorf("it did not go on starting: opened %d times, %v", opened.Load(), err)
	}
}

// TestPoolWaitsForTheObjects holds that a host is not used before its objects
// were listed: what is not listed would be taken for absent.
func TestPoolWaitsForTheObjects(t *testing.T) {
	t.Parallel()

	synced := make(chan struct{})
	p, _ := newTestPool(t, func(context.Context, *rest.Config, Notify) (*Host, error) {
		return &Host{ready: synced, trouble: newTrouble(clock.RealClock{})}, nil
	})

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	// Twice: neither he who makes it nor he who finds it.
	for range 2 {
		if _, err := p.Get(ctx, "one", noConfig); !errors.Is(err, ErrUnreachable) {
			t.Errorf("want ErrUnreachable, got %v", err)
		}

		// Starting goes on in the background.
		for known := false; !known; _, known = p.known("one") {
			if t.Context().Err() != nil {
				t.Fatal("the host never started")
			}
		}
	}

	close(synced)

	if _, err := p.Get(t.Context(), "one", noConfig); err != nil {
		t.Errorf("when its objects are listed: %v", err)
	}
}

// TestPoolSaysWhy holds that a host that refuses is said to at once, with its
// reason, and that it is used once it has come round.
func TestPoolSaysWhy(t *testing.T) {
	t.Parallel()

	h := &Host{ready: make(chan struct{}), trouble: newTrouble(clock.RealClock{})}
	p, _ := newTestPool(t, func(context.Context, *rest.Config, Notify) (*Host, error) { return h, nil })

	h.trouble.handle(t.Context(), nil, errors.New("first"))
	h.trouble.handle(t.Context(), nil, errInjected)

	// It comes with the error, for who needs no cache.
	if got, err := p.Get(t.Context(), "one", noConfig); !errors.Is(err, ErrUnreachable) || !errors.Is(err, errInjected) || got != h {
		t.Errorf("want the last reason, got %v, %v", got, err)
	}

	close(h.ready)

	if got, err := p.Get(t.Context(), "one", noConfig); err != nil || got != h {
		t.Errorf("old trouble holds back a host that is ready: %v", err)
	}
}

// TestPoolKeepsTheHostThatIsAskedFor holds that a host that is asked for after a
// long time is not made anew: its caches and watches are.
func TestPoolKeepsTheHostThatIsAskedFor(t *testing.T) {
	t.Parallel()

	opened := 0
	p, clk := newTestPool(t, func(ctx context.Context, cfg *rest.Config, n Notify) (*Host, error) {
		opened++
		return openSynced(ctx, cfg, n)
	})

	for i := range 5 {
		clk.SetTime(epoch.Add(time.Duration(i) * 2 * idle))

		if _, err := p.Get(t.Context(), "one", noConfig); err != nil {
			t.Fatal(err)
		}
	}

	if opened != 1 {
		t.Errorf("opened %d times, want once", opened)
	}
}

// TestPoolForgetsFailures holds that credentials that never worked are not remembered
// for ever.
func TestPoolForgetsFailures(t *testing.T) {
	t.Parallel()

	p, clk := newTestPool(t, func(context.Context, *rest.Config, Notify) (*Host, error) { return nil, errInjected })
	for i, key := range []string{"first", "second"} {
		clk.SetTime(epoch.Add(time.Duration(i) * 2 * idle))

		if _, err := p.Get(t.Context(), key, noConfig); !errors.Is(err, errInjected) {
			t.Fatal(err)
		}
	}

	if _, ok := p.failed["second"]; !ok || len(p.failed) != 1 {
		t.Errorf("remembered are %v", p.failed)
	}
}

func TestPoolErrors(t *testing.T) {
	t.Parallel()

	opened := 0
	p, _ := newTestPool(t, func(ctx context.Context, cfg *rest.Config, n Notify) (*Host, error) {
		if opened++; opened == 1 {
			return nil, errInjected
		}

		return openSynced(ctx, cfg, n)
	})

	_, err := p.Get(t.Context(), "one", func() (*rest.Config, error) { return nil, errInjected })
	if !errors.Is(err, errInjected) || errors.Is(err, ErrUnreachable) || opened != 0 {
		t.Errorf("a config that cannot be made is no unreachable host: %v, opened %d", err, opened)
	}

	if _, err := p.Get(t.Context(), "one", noConfig); !errors.Is(err, errInjected) || !errors.Is(err, ErrUnreachable) {
		t.Errorf("want ErrUnreachable with its cause, got %v", err)
	}

	if _, err := p.Get(t.Context(), "one", noConfig); err != nil || opened != 2 {
		t.Errorf("a failure is remembered: %v, opened %d", err, opened)
	}
}

// TestPoolRemembersWhyItCouldNotStart holds that who does not wait until a host is made is
// told why that failed last, and that nobody answered when that is not known.
func TestPoolRemembersWhyItCouldNotStart(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	fail := make(chan struct{})
	p, _ := newTestPool(t, func(context.Context, *rest.Config, Notify) (*Host, error) {
		<-fail
		return nil, errInjected
	})

	if h, err := p.Get(ctx, "one", noConfig); h != nil || !errors.Is(err, ErrUnreachable) || !errors.Is(err, context.Canceled) {
		t.Errorf("nothing is known yet: got %v, %v", h, err)
	}

	close(fail)

	for p.lastFailure("one") == nil {
		if t.Context().Err() != nil {
			t.Fatal("the failure is not kept")
		}
	}

	if _, err := p.Get(ctx, "one", noConfig); !errors.Is(err, ErrUnreachable) || !errors.Is(err, errInjected) || errors.Is(err, context.Canceled) {
		t.Errorf("want the last failure, got %v", err)
	}
}

// TestPoolDropsIdleHosts holds that a host that nobody asks for is stopped, and
// one that is asked for is not.
func TestPoolDropsIdleHosts(t *testing.T) {
	t.Parallel()

	var mu sync.Mutex

	contexts := map[string]context.Context{}
	p, clk := newTestPool(t, func(ctx context.Context, cfg *rest.Config, n Notify) (*Host, error) {
		mu.Lock()
		defer mu.Unlock()

		contexts[cfg.Host] = ctx

		return openSynced(ctx, cfg, n)
	})

	get := func(key string) {
		t.Helper()

		if _, err := p.Get(t.Context(), key, func() (*rest.Config, error) { return &rest.Config{Host: key}, nil }); err != nil {
			t.Fatal(err)
		}
	}
	running := func() map[string]bool {
		mu.Lock()
		defer mu.Unlock()

		out := map[string]bool{}
		for k, ctx := range contexts {
			out[k] = ctx.Err() == nil
		}

		return out
	}

	get("idle")
	get("used")
	clk.SetTime(epoch.Add(idle))
	get("used")
	get("second")

	if r := running(); !r["idle"] || !r["used"] {
		t.Errorf("dropped at exactly %s: %v", idle, r)
	}

	clk.SetTime(epoch.Add(idle + time.Second))
	get("third")

	if r := running(); r["idle"] || !r["used"] || !r["second"] || !r["third"] {
		t.Errorf("running: %v, want all but idle", r)
	}

	get("idle")

	if r := running(); !r["idle"] {
		t.Error("a dropped host that is asked for again is not started again")
	}
}

// TestPoolStopsItsHosts holds that all hosts stop with the pool.
func TestPoolStopsItsHosts(t *testing.T) {
	t.Parallel()

	var hosts []context.Context

	p, _ := newTestPool(t, func(ctx context.Context, cfg *rest.Config, n Notify) (*Host, error) {
		hosts = append(hosts, ctx)
		return openSynced(ctx, cfg, n)
	})

	for _, key := range []string{"a", "b"} {
		if _, err := p.Get(t.Context(), key, noConfig); err != nil {
			t.Fatal(err)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)

	go func() { done <- p.Start(ctx) }()

	for _, h := range hosts {
		if h.Err() != nil {
			t.Error("a host stopped before the pool")
		}
	}

	cancel()

	if err := <-done; err != nil {
		t.Error(err)
	}

	for _, h := range hosts {
		<-h.Done()
	}
}

// TestPoolTellsWhoListens holds that hosts tell the listener of the day, also
// those that were made before it.
func TestPoolTellsWhoListens(t *testing.T) {
	t.Parallel()

	var tell Notify

	p, _ := newTestPool(t, func(ctx context.Context, cfg *rest.Config, n Notify) (*Host, error) {
		tell = n
		return openSynced(ctx, cfg, n)
	})

	if _, err := p.Get(t.Context(), "one", noConfig); err != nil {
		t.Fatal(err)
	}

	alice := types.NamespacedName{Namespace: "kubeopera-system", Name: "alice"}
	tell(alice, false) // Nobody listens yet.

	var heard []types.NamespacedName

	p.Notify(func(t types.NamespacedName, _ bool) { heard = append(heard, t) })
	tell(alice, false)

	if len(heard) != 1 || heard[0] != alice {
		t.Errorf("heard %v, want %v once", heard, alice)
	}
}
