// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"flag"
	"io"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// story is something that happens to a Tenant, from a world to the state that is to
// follow from it, in as many passes of the runtime as that takes.
type story struct {
	// world is the one before it.
	world func(t *testing.T) *world
	// step is the time between two passes.
	step time.Duration
	// over says that the state is reached. The Tenant is nil when it is gone.
	over func(w *world, stored *v1alpha1.Tenant) bool
	// reads and writes are how many there are at least.
	reads, writes int
}

// mostPasses is enough for each story, with a failure in it.
const mostPasses = 15

func stories() map[string]story {
	full := func() tenantBuilder { return alice().WithFlux("").Advisor("advisor:v1") }
	// What runs is Ready also while something of it is to change.
	ready := func(_ *world, stored *v1alpha1.Tenant) bool {
		return stored != nil && stored.Status.Phase == v1alpha1.PhaseReady &&
			!slices.ContainsFunc(stored.Status.Conditions, func(c xpv2.Condition) bool { return c.Reason == v1alpha1.ReasonPendingChange })
	}

	arrived := func(t *testing.T) *world {
		w := newWorld(t, full().Obj())
		w.follow(t, story{step: time.Minute, over: ready}, nil)

		return w
	}

	return map[string]story{
		"creation": {
			world: func(t *testing.T) *world { return newWorld(t, full().Obj()) },
			step:  time.Minute, over: ready, reads: 40, writes: 12,
		},
		"keeping": {
			world: func(t *testing.T) *world {
				w := arrived(t)
				w.stored(func(tn *v1alpha1.Tenant) { tn.Annotations["looked-at"] = "once" })

				return w
			},
			step: time.Minute, over: ready, reads: 15,
		},
		"upgrade": {
			world: func(t *testing.T) *world {
				w := arrived(t)
				w.stored(func(tn *v1alpha1.Tenant) {
					tn.Spec.VCluster = &v1alpha1.VClusterSpec{ChartVersion: ptr.To("0.36.2")}
					tn.Spec.Advisor.Image = "advisor:v2"
					tn.Spec.Flux.ChartVersion = ptr.To("2.18.4")
				})

				return w
			},
			step: time.Minute, reads: 25, writes: 3,
			over: func(w *world, stored *v1alpha1.Tenant) bool {
				return ready(w, stored) && w.helm.release.ChartVersion == "0.36.2" && w.flux.release.ChartVersion == "2.18.4"
			},
		},
		"adoption": {
			world: func(t *testing.T) *world { return runsByHand(t, full().Adopts("vcluster-alice-default").Obj()) },
			step:  time.Minute, over: ready, reads: 40, writes: 12,
		},
		"deletion": {
			world: func(t *testing.T) *world {
				w := arrived(t)

				ours, _ := clusterScoped(namesOf(alice().Obj()))
				for _, o := range ours {
					o.SetFinalizers(nil)
					w.add(o)
				}

				w.remove(w.kube, read[*v1alpha1.Tenant](w, w.kube, aliceKey.Namespace, aliceKey.Name))

				return w
			},
			step: time.Second, reads: 60, writes: 8,
			over: func(_ *world, stored *v1alpha1.Tenant) bool { return stored == nil },
		},
	}
}

// noReads counts and fails none.
var noReads = reads{}

// aside does something that is none of the provider's reads and writes.
func (w *world) aside(fn func()) {
	reads, refuse, done := *w.reads, w.refuseWrites, w.journal.take()
	*w.reads, w.refuseWrites = noReads, func(string) error { return nil }

	fn()

	*w.reads, w.refuseWrites = reads, refuse
	w.journal.set(done)
}

// stored changes the Tenant as a person does.
func (w *world) stored(fn func(*v1alpha1.Tenant)) {
	w.aside(func() {
		change(w, w.kube, aliceKey.Namespace, aliceKey.Name, func(tn *v1alpha1.Tenant) {
			fn(tn)
			tn.Generation++
		})
	})
}

// follow the story to its end, and return how many passes it took. After each pass
// the host does its part, and then check is called with what the pass did.
func (w *world) follow(t *testing.T, s story, check func(stored *v1alpha1.Tenant, did []string)) {
	t.Helper()

	r := w.reconciler()

	for range mostPasses {
		before := len(w.journal.done)
		_, _ = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: aliceKey}) // What failed is tried again.
		did := slices.Clone(w.journal.done[before:])

		var stored *v1alpha1.Tenant

		w.aside(func() {
			if has[*v1alpha1.Tenant](w, w.kube, aliceKey.Namespace, aliceKey.Name) {
				stored = read[*v1alpha1.Tenant](w, w.kube, aliceKey.Namespace, aliceKey.Name)
			}

			if n := namesOf(alice().Obj()); w.helm.release != nil && !has[*corev1.Secret](w, w.host, n.namespace, n.exported) {
				w.bringUp(alice().Obj())
			}
		})

		if check != nil {
			check(stored, did)
		}

		if s.over(w, stored) {
			return
		}

		w.clock.SetTime(w.clock.Now().Add(s.step))
	}

	t.Errorf("it does not come to its end")
}

// undisturbed is what the story does and reads when nothing fails.
func (s story) undisturbed(t *testing.T) (did []string, reads int, writes int) {
	t.Helper()

	w := s.world(t)
	w.journal.clear()
	w.reads.fail(0)
	w.refuseWrites = func(string) error { writes++; return nil }
	w.follow(t, s, nil)

	if w.reads.count < s.reads || writes < s.writes {
		t.Fatalf("only %d reads and %d writes, want %d and %d at least", w.reads.count, writes, s.reads, s.writes)
	}

	return w.journal.take(), w.reads.count, writes
}

// everyWay is for make crash. Without it each read and write fails in one of the ways
// in turn: no code tells one from the other, and each takes its time.
var everyWay = flag.Bool("every-way", false, "fail each read and write of the stories in every way")

// ways are those in which the nth read or write fails.
func ways(all map[string]error, n int) map[string]error {
	if *everyWay {
		return all
	}

	kinds := slices.Sorted(maps.Keys(all))
	kind := kinds[n%len(kinds)]

	return map[string]error{kind: all[kind]}
}

// unanswered are the ways in which a read fails.
func unanswered() map[string]error {
	of := func(err error) error { return &url.Error{Op: "Get", URL: "https://host.example.org/api", Err: err} }

	return map[string]error{
		"500":     kerrors.NewInternalError(errInjected),
		"403":     kerrors.NewForbidden(schema.GroupResource{Resource: "things"}, "x", errInjected),
		"timeout": of(context.DeadlineExceeded),
		"reset":   of(&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}),
		"half":    of(io.ErrUnexpectedEOF),
	}
}

// refusals are the ways in which a write is refused.
func refusals() map[string]error {
	gr := schema.GroupResource{Resource: "things"}

	return map[string]error{
		"500": kerrors.NewInternalError(errInjected),
		"403": kerrors.NewForbidden(gr, "x", errInjected),
		"409": kerrors.NewConflict(gr, "x", errInjected),
	}
}

// TestR4EachReadFails fails each read of each story in turn, in each way: in that
// pass nothing is deleted, made anew, adopted, installed over or released for want
// of an answer, and what follows is what would have been done without it.
func TestR4EachReadFails(t *testing.T) {
	t.Parallel()

	for name, s := range stories() {
		t.Run("R4: "+name, func(t *testing.T) {
			t.Parallel()

			want, all, _ := s.undisturbed(t)

			for n := 1; n <= all; n++ {
				for kind, err := range ways(unanswered(), n) {
					w := s.world(t)
					w.journal.clear()
					w.reads.fail(n)
					w.reads.with = err
					w.checkRead(t, s, n, kind, want)
				}
			}

			t.Logf("%d reads of a %s failed", all, name)
		})
	}
}

func (w *world) checkRead(t *testing.T, s story, n int, kind string, want []string) {
	t.Helper()

	failed := false
	w.follow(t, s, func(stored *v1alpha1.Tenant, did []string) {
		if failed || w.reads.failed == "" {
			return
		}

		failed = true
		if stored == nil && w.left() {
			t.Errorf("read %d, %s, fails with %s: the Tenant is let go, and something of it is left", n, w.reads.failed, kind)
		}

		for _, a := range did {
			if !slices.Contains(want, a) {
				t.Errorf("read %d, %s, fails with %s: it did %q", n, w.reads.failed, kind, a)
			}
		}
	})

	if !failed {
		t.Errorf("read %d is never done, and does not fail with %s", n, kind)
	}

	if diff := cmp.Diff(counted(want), counted(w.journal.take())); diff != "" {
		t.Errorf("read %d, %s, fails with %s: something else is done: -want, +got:\n%s", n, w.reads.failed, kind, diff)
	}
}

// left says whether anything of the Tenant is left on the host.
func (w *world) left() bool {
	var out bool

	w.aside(func() {
		n := namesOf(alice().Obj())
		out = w.helm.release != nil || has[*corev1.Namespace](w, w.host, "", n.namespace) || has[*corev1.Secret](w, w.kube, tenantNamespace, publishedName)
	})

	return out
}

// counted is how often each was done of what must not be done twice. To make what
// exists fails and counts as one, and to bring it to what is wanted counts not at all.
func counted(did []string) map[string]int {
	out := map[string]int{}

	for _, a := range did {
		switch {
		case strings.Contains(a, " update "), strings.Contains(a, " patch "):
		case strings.Contains(a, " create "):
			out[a] = 1
		default:
			out[a]++
		}
	}

	return out
}

// TestR4EachWriteIsRefused refuses each write of each story once, in each way: it
// converges all the same, and the status says at no time two things at once.
func TestR4EachWriteIsRefused(t *testing.T) {
	t.Parallel()

	for name, s := range stories() {
		t.Run("R4: "+name, func(t *testing.T) {
			t.Parallel()

			want, _, all := s.undisturbed(t)

			for n := 1; n <= all; n++ {
				for kind, err := range ways(refusals(), n) {
					w := s.world(t)
					w.journal.clear()

					count, refused := 0, ""
					w.refuseWrites = func(a string) error {
						if count++; count != n {
							return nil
						}

						refused = a

						return err
					}

					w.follow(t, s, func(stored *v1alpha1.Tenant, _ []string) {
						switch {
						case stored != nil:
							w.checkTold(t, refused+" is refused with "+kind, stored)
						case w.left():
							t.Errorf("%s is refused with %s: the Tenant is let go, and something of it is left", refused, kind)
						}
					})

					if refused == "" {
						t.Errorf("write %d is never done, and not refused with %s", n, kind)
					}

					if diff := cmp.Diff(slices.Sorted(maps.Keys(counted(want))), slices.Sorted(maps.Keys(counted(w.journal.take())))); diff != "" {
						t.Errorf("%s is refused with %s: something else is done: -want, +got:\n%s", refused, kind, diff)
					}
				}
			}

			t.Logf("%d writes of a %s refused", all, name)
		})
	}
}

// checkTold holds that what is stored of a Tenant does not contradict itself, once
// there is anything. The runtime's own word about a Create that failed stands for a
// pass (ADR 6).
func (w *world) checkTold(t *testing.T, when string, stored *v1alpha1.Tenant) {
	t.Helper()

	ready := stored.GetCondition(xpv2.TypeReady)
	if told := stored.Status.Message != ""; !told || (ready.Reason == xpv2.ReasonCreating && stored.Status.Phase == v1alpha1.PhaseFailed) {
		return
	}

	checkStored(t, when, stored)
}
