// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package crash

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

var (
	everyCall = flag.Bool("every-call", false, "kill at reads too, which change nothing, and not only at writes")
	atOnce    = flag.Int("at-once", reportWorkers, "how many Tenants are stopped and killed at once, each at a call of its own")
)

const (
	// reportWorkers are those of the provider. With more Tenants at once, all of them may be
	// held by reports that were stopped, while another's never comes to its end.
	reportWorkers = 4
	// patience is how long something may take that takes seconds.
	patience = 5 * time.Minute
	// lessons is how many lives show how an operation passes that nothing interrupts.
	lessons = 3
	// silence is how long nothing is called when an operation is at its end.
	silence = 700 * time.Millisecond
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	flag.Parse()
	os.Exit(m.Run())
}

// result counts what came of the kill points of one operation.
type result struct {
	// planned are those of an operation that nothing interrupts: two a call.
	planned int
	// points are those that were reached.
	points, converged int
}

// wrong says what the result does not prove; empty when it proves what it is to.
// An operation may take a few calls fewer than the one that nothing interrupted, as when
// one write tells what were two, and then its last points are never reached.
func (r result) wrong() string {
	switch {
	case r.planned == 0:
		return "nothing was planned"
	case r.points*10 < r.planned*9:
		return fmt.Sprintf("only %d of %d points were reached", r.points, r.planned)
	case r.converged != r.points:
		return fmt.Sprintf("%d of %d converged", r.converged, r.points)
	default:
		return ""
	}
}

func TestResult(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		result result
		wrong  bool
	}{
		"All":     {reason: "all was reached and converged", result: result{planned: 100, points: 100, converged: 100}},
		"Almost":  {reason: "an operation may do with fewer calls", result: result{planned: 100, points: 90, converged: 90}},
		"Far":     {reason: "calls that were not reached are not proved", result: result{planned: 100, points: 89, converged: 89}, wrong: true},
		"NotOne":  {reason: "no point was reached", result: result{planned: 100}, wrong: true},
		"Nothing": {reason: "nothing is no proof", wrong: true},
		"Lost":    {reason: "one did not converge", result: result{planned: 100, points: 100, converged: 99}, wrong: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := tc.result.wrong(); (got != "") != tc.wrong {
				t.Errorf("%s\nwrong(): got %q, want something: %t", tc.reason, got, tc.wrong)
			}
		})
	}
}

// TestKilledAtEveryCall kills the provider at each call of a creation, an upgrade and
// a deletion, before it is passed on and after its answer is lost.
func TestKilledAtEveryCall(t *testing.T) {
	w := newWorld(t, *atOnce, *everyCall)
	w.start()

	results := w.sweep(w.learn())

	for id, name := range map[string]string{"H4: creation": "creation", "H4: upgrade": "upgrade", "D9, H4: deletion": "deletion"} {
		t.Run(id, func(t *testing.T) {
			r := results[name]
			if why := r.wrong(); why != "" {
				t.Error(why)
			}

			t.Logf("%s: killed at %d points, %d planned, %d converged", name, r.points, r.planned, r.converged)
		})
	}

	slices.Sort(w.starts)
	t.Logf("started %d times, ready after %.1f s in the median", len(w.starts), w.starts[len(w.starts)/2].Seconds())
}

// reference is how an operation ends that nothing interrupts.
type reference struct {
	calls        int
	host, inside map[string]bool
}

// learn lets some lives pass without a kill, and takes of each operation the one with the
// fewest calls: how often is read while something is waited for differs.
func (w *world) learn() map[string]reference {
	w.t.Helper()

	out := map[string]reference{}

	for range lessons {
		l := w.newLife(w.slots[0])

		for _, op := range operations() {
			r := l.learn(op)
			if least, ok := out[op.name]; !ok || r.calls < least.calls {
				out[op.name] = r
			}
		}

		if why := w.wipe(l.slot); why != "" {
			w.t.Fatalf("cannot make a vCluster bare: %s", why)
		}
	}

	return out
}

// learn how an operation passes without a kill.
func (l *life) learn(op operation) reference {
	t := l.w.t
	t.Helper()

	l.arm(point{})
	began := time.Now()

	if why := cmp.Or(begin(op, l), l.end(op)); why != "" {
		t.Fatalf("%s does not end: %s\n%s", op.name, why, l.w.provider.Tail(30))
	}

	r := reference{calls: len(l.counted())}
	if r.calls < op.calls {
		t.Fatalf("%s takes %d calls, want %d at least", op.name, r.calls, op.calls)
	}

	r.host, r.inside = l.inventories()
	t.Logf("%s takes %.1f s and %d calls", op.name, time.Since(began).Seconds(), r.calls)

	for i, c := range l.counted() {
		t.Logf("  %3d %s", i+1, c)
	}

	return r
}

func begin(op operation, l *life) string {
	if err := op.begin(l); err != nil {
		return err.Error()
	}

	return ""
}

// end waits until the operation has come to its end, and nothing is called any more.
func (l *life) end(op operation) string {
	return await(l.w.t.Context(), func() string { return l.restless(op) })
}

// restless says why the operation is not at its end yet.
func (l *life) restless(op operation) string {
	why := op.wrong(l)
	if why == "" && l.quiet() < silence {
		return "calls go on"
	}

	return why
}

// check that the end is that of an operation which nothing interrupted.
func (l *life) check(op operation, ref reference) string {
	if op.name != "deletion" {
		if why := l.records(); why != "" {
			return why
		}
	}

	host, inside := l.inventories()
	if op.name == "deletion" {
		inside = ref.inside // It goes with the vCluster.
	}

	return cmp.Or(difference(ref.host, host), difference(ref.inside, inside))
}

// sweep lives so many lives that each operation is killed at each of its calls.
func (w *world) sweep(ref map[string]reference) map[string]*result {
	w.t.Helper()

	most, results := 0, map[string]*result{}

	for name, r := range ref {
		most = max(most, r.calls)
		results[name] = &result{planned: 2 * r.calls}
	}

	began := time.Now()

	for first := 0; first < 2*most && len(w.slots) > 0; first += len(w.slots) {
		lives := make([]*life, len(w.slots))
		for i, s := range w.slots {
			lives[i] = w.newLife(s)
		}

		for _, op := range operations() {
			lives = w.run(op, lives, first, ref[op.name], results[op.name])
		}

		w.slots = w.slots[:0]

		for _, l := range lives {
			if why := w.wipe(l.slot); why != "" {
				w.t.Errorf("cannot make a vCluster bare: %s", why)
				continue
			}

			w.slots = append(w.slots, l.slot)
		}

		w.t.Logf("%4.0f s: %d of %d", time.Since(began).Seconds(), first+len(lives), 2*most)
	}

	return results
}

// run the operation on the lives, each with a kill at a point of its own, from the
// given one on. It returns the lives that converged.
func (w *world) run(op operation, lives []*life, first int, ref reference, r *result) []*life {
	w.t.Helper()

	over := first/2+1 > ref.calls
	if over && op.optional {
		return lives
	}

	for i, l := range lives {
		p := point{n: (first+i)/2 + 1, answered: (first+i)%2 == 1}
		if over {
			p = point{}
		}

		l.arm(p)

		if why := begin(op, l); why != "" {
			w.t.Fatalf("cannot begin the %s: %s", op.name, why)
		}
	}

	stops := w.awaitStops(op, lives)
	if !over {
		w.kill()
		w.start()
	}

	var out []*life

	for i, l := range lives {
		if stops[i] != "" {
			l.kills++
			r.points++
		}

		if why := cmp.Or(l.end(op), l.check(op, ref)); why != "" {
			w.t.Errorf("killed at %s: does not converge: %s\n%s", cmp.Or(stops[i], "a call of another"), why, w.provider.Tail(20))
			continue
		}

		if stops[i] != "" {
			r.converged++
		}

		out = append(out, l)
	}

	return out
}

// awaitStops waits until each life has come to its point, or to the end of the
// operation. It returns in words where each has stopped; empty for one that has not.
func (w *world) awaitStops(op operation, lives []*life) []string {
	w.t.Helper()

	out := make([]string, len(lives))

	for i, l := range lives {
		why := await(w.t.Context(), func() string {
			if c, ok := l.stop(); ok {
				out[i] = fmt.Sprintf("call %d of the %s, %s %s", l.point.n, op.name, l.point.when(), c)
				return ""
			}

			return l.restless(op)
		})
		if why != "" {
			w.t.Errorf("%s of %q neither ends nor is stopped: %s", op.name, l.name, why)
		}
	}

	return out
}
