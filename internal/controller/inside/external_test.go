// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

// fakeFacts say what they are told to.
type fakeFacts struct{ exists, settled, incomplete bool }

func (f fakeFacts) Exists(Owner) bool { return f.exists }
func (f fakeFacts) Settled() bool     { return f.settled }
func (f fakeFacts) Complete() bool    { return !f.incomplete }

// fakeHandler notes what it is asked for, and fails what it is told to.
type fakeHandler struct {
	facts fakeFacts
	left  []*unstructured.Unstructured
	fails map[string]bool

	calls []string
}

func (h *fakeHandler) call(ctx context.Context, p Pass, what string) error {
	if _, ok := ctx.Deadline(); !ok {
		what += " without end"
	}

	h.calls = append(h.calls, what)

	if h.fails[what] {
		return insidetest.ErrInjected
	}

	return p.unavailable
}

func (h *fakeHandler) Gather(ctx context.Context, p Pass, _ *v1alpha1.AdvisorAgent) (fakeFacts, error) {
	return h.facts, h.call(ctx, p, "gather")
}

func (h *fakeHandler) Write(ctx context.Context, p Pass, _ *v1alpha1.AdvisorAgent, seen fakeFacts) error {
	if seen != h.facts {
		h.calls = append(h.calls, "write of what was not seen")
	}

	return h.call(ctx, p, "write")
}

func (h *fakeHandler) Summarize(_ Pass, a *v1alpha1.AdvisorAgent, _ fakeFacts, failed error) Summary {
	a.Status.Image = "seen"
	return Available("all well", failed)
}

func (h *fakeHandler) Unknown(was xpv2.Condition, err error) Summary {
	return Unknown(was, "all well", err)
}

func (h *fakeHandler) Remains(ctx context.Context, p Pass, _ *v1alpha1.AdvisorAgent) ([]*unstructured.Unstructured, error) {
	return h.left, h.call(ctx, p, "remains")
}

func (h *fakeHandler) MayBeLeft(*v1alpha1.AdvisorAgent) []string { return []string{"this and that"} }

// connect begins a pass of a.
func (s *stage) connect(t *testing.T, h *fakeHandler, a *v1alpha1.AdvisorAgent) managed.TypedExternalClient[*v1alpha1.AdvisorAgent] {
	t.Helper()

	e, err := connector[*v1alpha1.AdvisorAgent, fakeFacts]{Controller: s.Controller, handler: h}.Connect(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}

	return e
}

func TestObserve(t *testing.T) {
	t.Parallel()

	ready := []client.Object{insidetest.Tenant(), secretOf(insidetest.Tenant())}
	there := managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}
	was := xpv2.Available()

	cases := map[string]struct {
		reason string
		kube   []client.Object
		facts  fakeFacts
		fails  string
		was    *xpv2.Condition
		want   managed.ExternalObservation
		err    error
		says   string
		status xpv2.ConditionReason
	}{
		"Absent":    {reason: "nothing is there", kube: ready, says: "all well", status: xpv2.ReasonAvailable},
		"Different": {reason: "something is to be done", kube: ready, facts: fakeFacts{exists: true}, want: managed.ExternalObservation{ResourceExists: true}, says: "all well", status: xpv2.ReasonAvailable},
		"Settled":   {reason: "nothing is to be done", kube: ready, facts: fakeFacts{exists: true, settled: true}, want: there, says: "all well", status: xpv2.ReasonAvailable},
		"Waits":     {reason: "to wait for the Tenant is no error, and nothing is made meanwhile", kube: ready[:1], want: there, says: "waiting for the Tenant: there is no kubeconfig yet", status: xpv2.ReasonCreating},
		"Fails":     {reason: "not to know is one", kube: ready, fails: "gather", err: insidetest.ErrInjected, says: "injected failure", status: xpv2.ReasonUnavailable},
		"Blind":     {reason: "and what was Ready stays so", kube: ready, fails: "gather", was: &was, err: insidetest.ErrInjected, says: "cannot be looked at now: injected failure", status: xpv2.ReasonAvailable},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h, a := &fakeHandler{facts: tc.facts, fails: map[string]bool{tc.fails: true}}, insidetest.Agent("a")
			if tc.was != nil {
				a.SetConditions(*tc.was)
			}

			got, err := newStage(t, clones(tc.kube)...).connect(t, h, a).Observe(t.Context(), a)
			if !errors.Is(err, tc.err) || got.ResourceExists != tc.want.ResourceExists || got.ResourceUpToDate != tc.want.ResourceUpToDate {
				t.Errorf("%s: %+v, %v", tc.reason, got, err)
			}

			if c := a.GetCondition(xpv2.TypeReady); c.Reason != tc.status || !strings.Contains(a.Status.Message, tc.says) {
				t.Errorf("%s: it is %s: %q", tc.reason, c.Reason, a.Status.Message)
			}

			if !slices.Equal(h.calls, []string{"gather"}) {
				t.Errorf("%s: %v", tc.reason, h.calls)
			}
		})
	}
}

// TestGlance holds that nothing is taken for seen before its status is stored, and that
// it is afterwards.
func TestGlance(t *testing.T) {
	t.Parallel()

	h, s := &fakeHandler{facts: fakeFacts{exists: true, settled: true}}, newStage(t, insidetest.Tenant(), secretOf(insidetest.Tenant()))
	observe := func(a *v1alpha1.AdvisorAgent) (looks int) {
		t.Helper()

		got, err := s.connect(t, h, a).Observe(t.Context(), a)
		if err != nil || !got.ResourceExists || !got.ResourceUpToDate {
			t.Fatalf("%+v, %v", got, err)
		}

		return len(h.calls)
	}

	a := insidetest.Agent("a")
	observe(a)

	if looks := observe(insidetest.Agent("a")); looks != 2 {
		t.Error("what was not stored is taken for seen")
	}

	for range 2 {
		if looks := observe(a); looks != 3 {
			t.Errorf("what is stored was looked at %d times, instead of once more", looks-2)
		}
	}
}

// TestAct holds that after an update it looks again, and that a write that failed is told.
func TestAct(t *testing.T) {
	t.Parallel()

	create := func(e managed.TypedExternalClient[*v1alpha1.AdvisorAgent], a *v1alpha1.AdvisorAgent) error {
		_, err := e.Create(t.Context(), a)
		return err
	}
	update := func(e managed.TypedExternalClient[*v1alpha1.AdvisorAgent], a *v1alpha1.AdvisorAgent) error {
		_, err := e.Update(t.Context(), a)
		return err
	}
	cases := map[string]struct {
		reason string
		act    func(managed.TypedExternalClient[*v1alpha1.AdvisorAgent], *v1alpha1.AdvisorAgent) error
		fails  string
		says   string
		calls  []string
	}{
		"Created":      {"what was created the next pass looks at", create, "", "all well", []string{"gather", "write"}},
		"CreateFailed": {"what cannot be created is told", create, "write", "all well; a change failed: injected failure", []string{"gather", "write"}},
		"Updated":      {"what was updated is looked at", update, "", "all well", []string{"gather", "write", "gather"}},
		"UpdateFailed": {"what cannot be updated is not", update, "write", "all well; a change failed: injected failure", []string{"gather", "write"}},
	}
	for name, tc := range cases {
		h, a := &fakeHandler{facts: fakeFacts{exists: true}, fails: map[string]bool{tc.fails: true}}, insidetest.Agent("a")
		e := newStage(t, insidetest.Tenant(), secretOf(insidetest.Tenant())).connect(t, h, a)

		if _, err := e.Observe(t.Context(), a); err != nil {
			t.Fatal(err)
		}

		if err := tc.act(e, a); (err != nil) != (tc.fails != "") || a.Status.Message != tc.says || a.Status.Image != "seen" {
			t.Errorf("%s: %s: %v, %q", name, tc.reason, err, a.Status.Message)
		}

		if !slices.Equal(h.calls, tc.calls) {
			t.Errorf("%s: %s: %v", name, tc.reason, h.calls)
		}
	}
}

// TestRemoval holds that an object is there as long as anything is left of it or
// nobody knows, and that it says so.
func TestRemoval(t *testing.T) {
	t.Parallel()

	q := wantQuota(t, "n", "q", false)

	cases := map[string]struct {
		reason string
		left   bool
		fails  string // A part of the handler, or what the vCluster refuses.
		exists bool
		err    error // Of Observe.
		says   string
	}{
		"Gone":    {reason: "nothing is left"},
		"Left":    {reason: "something is", left: true, exists: true, says: `waiting for ResourceQuota "q"`},
		"Unknown": {reason: "nobody knows", fails: "remains", exists: true, err: insidetest.ErrInjected, says: "injected failure"},
		"Refused": {reason: "it cannot be removed", left: true, fails: "delete", exists: true, says: "cannot delete ResourceQuota"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStage(t, insidetest.Tenant(), secretOf(insidetest.Tenant()))
			h, a := &fakeHandler{fails: map[string]bool{tc.fails: true}}, insidetest.Deleted(insidetest.Agent("a"), insidetest.Epoch)

			if tc.left {
				h.left = []*unstructured.Unstructured{mustWrite(t, s.vcluster, []Wanted{q})[0].Live}
			}

			if tc.fails == "delete" {
				s.vcluster.Fail(insidetest.Failing("delete"))
			}

			e := s.connect(t, h, a)

			got, err := e.Observe(t.Context(), a)
			if !errors.Is(err, tc.err) || got.ResourceExists != tc.exists {
				t.Fatalf("%s: exists: %t, %v", tc.reason, got.ResourceExists, err)
			}

			if err == nil && tc.exists {
				if _, err := e.Delete(t.Context(), a); (err != nil) != (tc.fails == "delete") {
					t.Errorf("%s: %v", tc.reason, err)
				}
			}

			if c := a.GetCondition(xpv2.TypeReady); tc.exists && (c.Reason != xpv2.ReasonDeleting || !strings.Contains(a.Status.Message, tc.says)) {
				t.Errorf("%s: it is %s: %q", tc.reason, c.Reason, a.Status.Message)
			}

			if err := e.Disconnect(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}
