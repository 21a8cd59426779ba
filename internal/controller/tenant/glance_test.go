// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/glance"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// glancer connects to the world as [connector] does, and counts the looks.
type glancer struct {
	*world

	memory *glance.Memory
	looks  int
}

func newGlancer(w *world) *glancer { return &glancer{world: w, memory: glance.NewMemory(w.clock)} }

func (g *glancer) Connect(ctx context.Context, t *v1alpha1.Tenant) (managed.TypedExternalClient[*v1alpha1.Tenant], error) {
	if came, ok := g.memory.Same(ctx, t); ok {
		return glance.Seen[*v1alpha1.Tenant](came), nil
	}

	g.looks++

	e, look := g.external(t), &glance.Look{}
	e.kube, e.cached = look.OfManager(g.kube, g.kube), look.Cached(watchedOnly{g.host})
	e.live, e.helm = look.Live(g.host, watchedOnly{g.host}), newLookingHelm(g.helm.client(), look)
	e.keep = func(came managed.ExternalObservation) { g.memory.Keep(t, look, came) }

	return e, nil
}

// TestGlanceOfWhatIsStored holds that nothing is taken for seen whose status was not
// stored: a Tenant that became Ready would stay as it was before until something changed.
func TestGlanceOfWhatIsStored(t *testing.T) {
	t.Parallel()

	w := newWorld(t, alice().Obj())
	g := newGlancer(w)
	r := w.reconcilerBy(g)

	w.reconcile(r)
	w.bringUp(alice().Obj())
	w.reconcile(r)

	n := namesOf(alice().Obj())
	replicas := func(number int32) {
		changeStatus(w, w.host, n.namespace, n.release, func(s *appsv1.StatefulSet) { s.Status.ReadyReplicas = number })
	}

	replicas(0)

	if tn, _ := w.reconcile(r); tn.Status.Phase == v1alpha1.PhaseReady {
		t.Fatal("it is Ready without a control plane")
	}

	replicas(1)

	w.refuseWrites = func(action string) error {
		if strings.HasPrefix(action, "kube status Tenant") {
			return errInjected
		}

		return nil
	}

	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: aliceKey}); err == nil {
		t.Fatal("the status was not refused")
	}

	w.refuseWrites = func(string) error { return nil }

	if tn, _ := w.reconcile(r); tn.Status.Phase != v1alpha1.PhaseReady {
		t.Errorf("what was not stored is taken for seen: it is %s: %s", tn.Status.Phase, tn.Status.Message)
	}

	w.reconcile(r)

	before := g.looks
	if w.reconcile(r); g.looks != before {
		t.Error("what is stored is looked at again")
	}
}

// TestLookingHelm holds when a pass reads a release: once, and again after each attempt
// to write it, or when the read failed.
func TestLookingHelm(t *testing.T) {
	t.Parallel()

	const name = "vc-alice"

	cases := map[string]struct {
		reason string
		err    error
		then   func(ctx context.Context, c helm.Client) error
		reads  int
	}{
		"Nothing":   {"what was read is known", nil, func(context.Context, helm.Client) error { return nil }, 1},
		"Absent":    {"also that there is none", helm.ErrReleaseNotFound, func(context.Context, helm.Client) error { return nil }, 1},
		"Failed":    {"what could not be read is not known", errInjected, func(context.Context, helm.Client) error { return nil }, 2},
		"Install":   {"a write changes it", nil, func(ctx context.Context, c helm.Client) error { _, err := c.Install(ctx, name, nil, nil); return err }, 2},
		"Upgrade":   {"whatever became of it", nil, func(ctx context.Context, c helm.Client) error { _, err := c.Upgrade(ctx, name, nil, nil); return err }, 2},
		"Uninstall": {"whatever became of it", nil, func(ctx context.Context, c helm.Client) error { return c.Uninstall(ctx, name) }, 2},
		"Unlock":    {"whatever became of it", nil, func(ctx context.Context, c helm.Client) error { return c.Unlock(ctx, &helm.Release{Name: name}) }, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			reads := 0
			write := func(context.Context, string, *helm.Chart, map[string]any) (*helm.Release, error) {
				return nil, errInjected
			}
			c := newLookingHelm(helm.ClientFns{
				GetFn: func(context.Context, string) (*helm.Release, error) {
					reads++
					return &helm.Release{Name: name}, tc.err
				},
				InstallFn:   write,
				UpgradeFn:   write,
				UninstallFn: func(context.Context, string) error { return errInjected },
				UnlockFn:    func(context.Context, *helm.Release) error { return errInjected },
			}, &glance.Look{})

			get := func() {
				t.Helper()

				if r, err := c.Get(t.Context(), "vc-alice"); !errors.Is(err, tc.err) || r == nil {
					t.Fatalf("it read %v, %v", r, err)
				}
			}

			get()

			if err := tc.then(t.Context(), c); err != nil && !errors.Is(err, errInjected) {
				t.Fatal(err)
			}

			get()

			if reads != tc.reads {
				t.Errorf("%s: read %d times, want %d", tc.reason, reads, tc.reads)
			}
		})
	}
}

// TestGlanceAtTheRelease holds that a release that someone else wrote, or took away, is
// found by glances.
func TestGlanceAtTheRelease(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(h *fakeHelm){
		"written": func(h *fakeHelm) { h.release.Revision++ },
		"gone":    func(h *fakeHelm) { h.release = nil },
	} {
		w := newWorld(t, alice().Obj())
		g := newGlancer(w)
		r := w.reconcilerBy(g)

		w.reconcile(r)
		w.bringUp(alice().Obj())

		for range 4 {
			w.reconcile(r)
		}

		before := g.looks
		if w.reconcile(r); g.looks != before {
			t.Fatalf("%s: nothing has changed, and it is looked at", name)
		}

		change(w.helm)

		for range 4 {
			w.reconcile(r)
		}

		if g.looks == before {
			t.Errorf("%s: it is not looked at again", name)
		}
	}
}

// TestStaysSo holds after which looks glances do.
func TestStaysSo(t *testing.T) {
	t.Parallel()

	condition := func(c xpv2.Condition) func(*external, *v1alpha1.Tenant, *facts) {
		return func(e *external, tn *v1alpha1.Tenant, _ *facts) {
			tn.SetConditions(c)
			e.before = *tn.Status.DeepCopy()
		}
	}

	cases := map[string]struct {
		reason string
		change func(e *external, tn *v1alpha1.Tenant, f *facts)
		want   bool
	}{
		"Ready":    {"nothing is to be done", func(*external, *v1alpha1.Tenant, *facts) {}, true},
		"ToDo":     {"something is", func(_ *external, _ *v1alpha1.Tenant, f *facts) { f.right = false }, false},
		"Waking":   {"it is to be looked at at a time", func(e *external, _ *v1alpha1.Tenant, _ *facts) { e.waking = true }, false},
		"Unstored": {"the status is to be written", func(_ *external, tn *v1alpha1.Tenant, _ *facts) { tn.Status.Message = "new" }, false},
		"NotReady": {"it is not Ready", condition(xpv2.Unavailable()), false},
		"Reported": {"kubeopera-api was not told", condition(notDone(v1alpha1.TypeReported, v1alpha1.ReasonProgressing, "")), false},
		"Pending":  {"a change waits", condition(pendingChange(v1alpha1.TypeFluxReady, "")), false},
		"Expiring": {"a person is to renew the certificate", condition(xpv2.Condition{
			Type: v1alpha1.TypeKubeconfigPublished, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonExpiring,
		}), false},
	}
	for name, tc := range cases {
		w, tn := newWorld(t), alice().Obj()
		w.arrive(tn)

		e := w.external(tn)

		f, err := e.gather(t.Context(), tn)
		if err != nil {
			t.Fatal(err)
		}

		e.seen = f
		e.reportFacts(tn)
		tc.change(e, tn, f)

		if got := e.staysSo(tn, f); got != tc.want {
			t.Errorf("%s: %s: %t", name, tc.reason, got)
		}
	}
}
