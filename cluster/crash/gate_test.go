// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package crash

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// point is a call at which the provider is stopped.
type point struct {
	// n counts the calls of an operation from 1; 0 stops at none.
	n int
	// answered says that the call was done, but its answer is lost. Otherwise it is
	// not passed on.
	answered bool
}

func (p point) when() string {
	if p.answered {
		return "after"
	}

	return "before"
}

// gate is what the calls for one Tenant go through.
type gate struct {
	// every counts reads too.
	every bool

	mu      sync.Mutex
	point   point
	calls   []call
	last    time.Time
	at      call
	stopped chan struct{} // closed when the point is reached
	killed  chan struct{} // closed when the provider is dead
	reached bool
}

// arm the gate: its next calls are counted, and stop at the point.
func (g *gate) arm(p point) {
	g.mu.Lock()
	defer g.mu.Unlock()

	g.point, g.calls, g.reached = p, nil, false
	g.last = time.Now()
	g.stopped, g.killed = make(chan struct{}), make(chan struct{})
}

// open lets everything pass from now on. What was held is dropped.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()

	g.point, g.reached = point{}, false
	close(g.killed)
}

// quiet is for how long nothing was counted.
func (g *gate) quiet() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()

	return time.Since(g.last)
}

// counted are the calls since the gate was armed.
func (g *gate) counted() []call {
	g.mu.Lock()
	defer g.mu.Unlock()

	return g.calls
}

// stop says whether the point was reached, and by which call.
func (g *gate) stop() (call, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()

	select {
	case <-g.stopped:
		return g.at, true
	default:
		return call{}, false
	}
}

// verdict is what becomes of a call.
type verdict int

const (
	pass verdict = iota
	hold
	stopBefore
	stopAfter
)

// enter decides on a call, and returns what tells of the point for which it is armed
// now: by the time that a call is served it may be armed for another. Nothing of a
// Tenant passes any more once it is stopped.
func (g *gate) enter(c call) (v verdict, stopped, killed chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()

	return g.decide(c), g.stopped, g.killed
}

func (g *gate) decide(c call) verdict {
	switch {
	case g.reached:
		return hold
	case !g.every && !c.writes():
		return pass
	}

	g.calls, g.last = append(g.calls, c), time.Now()
	if len(g.calls) != g.point.n {
		return pass
	}

	g.at, g.reached = c, true
	if g.point.answered {
		return stopAfter
	}

	return stopBefore
}

// serve a call by the handler, unless the provider dies first.
func (g *gate) serve(w http.ResponseWriter, r *http.Request, c call, h http.Handler) {
	v, stopped, killed := g.enter(c)

	switch v {
	case pass:
		h.ServeHTTP(w, r)
		return
	case stopAfter:
		// It is done whatever becomes of who asked for it.
		h.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
		close(stopped)
	case stopBefore:
		close(stopped)
	case hold:
	}

	<-killed
	panic(http.ErrAbortHandler)
}

func TestGate(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		point  point
		want   []verdict
	}{
		"NoPoint": {reason: "nothing is stopped", want: []verdict{pass, pass, pass}},
		"Before":  {reason: "the second is not passed on, nor any after it", point: point{n: 2}, want: []verdict{pass, stopBefore, hold}},
		"After":   {reason: "the second is done, and none after it", point: point{n: 2, answered: true}, want: []verdict{pass, stopAfter, hold}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			g := &gate{}
			g.arm(tc.point)

			for i, want := range tc.want {
				if got, _, _ := g.enter(call{method: http.MethodPost}); got != want {
					t.Errorf("%s\ncall %d: got %d, want %d", tc.reason, i+1, got, want)
				}
			}
		})
	}
}

// TestGateArmedAnew: what was held goes with the provider that asked for it, also when
// the gate is armed for the next one at that moment.
func TestGateArmedAnew(t *testing.T) {
	t.Parallel()

	g := &gate{}
	g.arm(point{n: 1})

	_, _, killed := g.enter(call{method: http.MethodPost})

	g.open()
	g.arm(point{n: 1})

	select {
	case <-killed:
	default:
		t.Error("a call of the dead provider waits for the next one to be killed")
	}
}
