// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler/reconcilertest"
	"github.com/kubeopera/provider-kubeopera/internal/glance"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// stage is a controller on fakes.
type stage struct {
	Controller

	vcluster *insidetest.VCluster
	events   *insidetest.Recorder
	queue    *reconcilertest.Queue
}

func newStage(t *testing.T, kube ...client.Object) *stage {
	t.Helper()

	s := &stage{vcluster: insidetest.NewVCluster(t), events: &insidetest.Recorder{}, queue: &reconcilertest.Queue{}}
	k, clk := newKube(kube...), clocktesting.NewFakePassiveClock(insidetest.Epoch)
	s.Controller = Controller{
		Kube: k, Live: k, Looks: glance.NewMemory(clk), Record: s.events, Clock: clk, Waker: &reconciler.Waker{},
		Open: func(types.UID, *vcluster.Kubeconfig) (*tenantapi.API, error) {
			return &tenantapi.API{Live: s.vcluster}, nil
		},
	}

	if err := s.Waker.Source().Start(t.Context(), s.queue); err != nil {
		t.Fatal(err)
	}

	return s
}

func secretOf(t *v1alpha1.Tenant) client.Object {
	return insidetest.Secret(t, insidetest.Kubeconfig())
}

func TestBegin(t *testing.T) {
	t.Parallel()

	s := newStage(t, insidetest.Tenant(), secretOf(insidetest.Tenant()))

	p := s.begin(t.Context(), insidetest.Agent("a"))
	if p.unavailable != nil || p.API == nil {
		t.Fatalf("the vCluster is not available: %v", p.unavailable)
	}

	one, cancel := p.bounded(t.Context())
	defer cancel()

	two, cancelTwo := p.bounded(context.Background())
	defer cancelTwo()

	end, ok := one.Deadline()
	if again, _ := two.Deadline(); !ok || !again.Equal(end) || time.Until(end) > PassTimeout {
		t.Errorf("the calls of a pass end at %s and at %s", end, again)
	}

	if p := newStage(t).begin(t.Context(), insidetest.Agent("a")); !errors.Is(p.unavailable, errNoTenant) {
		t.Errorf("want %v, got %v", errNoTenant, p.unavailable)
	}
}

// TestPassWrite holds that who loses a race looks again, and that all else fails.
func TestPassWrite(t *testing.T) {
	t.Parallel()

	s := newStage(t, insidetest.Tenant(), secretOf(insidetest.Tenant()))
	a := insidetest.Agent("a")
	p := s.begin(t.Context(), a)
	want := []Wanted{wantNamespace(t, "n")}

	absent, err := Look(t.Context(), s.vcluster, want)
	if err != nil {
		t.Fatal(err)
	}

	if err := p.Write(t.Context(), a, absent); err != nil {
		t.Fatal(err)
	}

	if err := p.Write(t.Context(), a, absent); err != nil {
		t.Errorf("a lost race is no error: %v", err)
	}

	if diff := cmp.Diff([]string{"after 1s " + client.ObjectKeyFromObject(a).String()}, s.queue.Take()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	s.vcluster.Fail(insidetest.Failing("create"))

	if err := p.Write(t.Context(), a, absent); !errors.Is(err, insidetest.ErrInjected) {
		t.Errorf("want %v, got %v", insidetest.ErrInjected, err)
	}
}

func TestIsGone(t *testing.T) {
	t.Parallel()

	ns, quota := wantNamespace(t, "n"), wantQuota(t, "n", "q", false)
	left := []*unstructured.Unstructured{live(quota, nil), live(ns, nil)}
	could := []string{"Namespace n"}
	going := func(ago time.Duration) *v1alpha1.Tenant {
		return insidetest.Deleted(insidetest.Tenant(), insidetest.Epoch.Add(-ago))
	}

	cases := map[string]struct {
		reason string
		kube   []client.Object
		left   []*unstructured.Unstructured
		unseen error
		gone   bool
		waits  string
		event  string
		again  string
		fresh  bool // Its deletion was asked for just now.
	}{
		"Gone":       {reason: "nothing is left", kube: []client.Object{insidetest.Tenant()}, gone: true},
		"Left":       {reason: "the last that is to go is named", kube: []client.Object{insidetest.Tenant()}, left: left, waits: `waiting for Namespace "n" inside the vCluster`},
		"Going":      {reason: "what was asked to go is soon gone", kube: []client.Object{insidetest.Tenant()}, left: left, fresh: true, waits: `waiting for Namespace "n"`, again: "after 1s kubeopera-system/a"},
		"Unseen":     {reason: "what cannot be seen may be there", kube: []client.Object{insidetest.Tenant()}, unseen: insidetest.ErrInjected, waits: "injected failure"},
		"NoTenant":   {reason: "a vCluster that is gone took all with it", unseen: errNoTenant, gone: true, event: "there is no such Tenant; not removed: Namespace n"},
		"Trying":     {reason: "a Tenant that goes is given a little time", kube: []client.Object{going(10 * time.Second)}, left: left, waits: `waiting for Namespace "n"`, again: "after 5s kubeopera-system/a"},
		"OverUnseen": {reason: "and no more", kube: []client.Object{going(15 * time.Second)}, unseen: insidetest.ErrInjected, gone: true, event: "not all was removed within 15s: injected failure; not removed: Namespace n"},
		"OverLeft":   {reason: "whatever is left", kube: []client.Object{going(15 * time.Second)}, left: left, gone: true, event: `waiting for Namespace "n" inside the vCluster; not removed: ResourceQuota q in n, Namespace n`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newStage(t, append(tc.kube, secretOf(insidetest.Tenant()))...)
			a := insidetest.Deleted(insidetest.Agent("a"), insidetest.Epoch.Add(-time.Hour))
			if tc.fresh {
				a = insidetest.Deleted(a, insidetest.Epoch.Add(-time.Second))
			}

			gone, waits := s.begin(t.Context(), a).isGone(a, tc.left, tc.unseen, could)
			if gone != tc.gone || !strings.Contains(waits, tc.waits) || (waits == "") != (tc.waits == "") {
				t.Errorf("%s: gone: %t, waits for %q", tc.reason, gone, waits)
			}

			got := strings.Join(s.events.Take(ReasonSkipped), "; ")
			if (got == "") != (tc.event == "") || !strings.Contains(got, tc.event) {
				t.Errorf("%s: event %q, want %q", tc.reason, got, tc.event)
			}

			if again := strings.Join(s.queue.Take(), "; "); again != tc.again {
				t.Errorf("%s: looks again %q, want %q", tc.reason, again, tc.again)
			}
		})
	}
}

func TestPassRemove(t *testing.T) {
	t.Parallel()

	s := newStage(t, insidetest.Tenant(), secretOf(insidetest.Tenant()))
	found := mustWrite(t, s.vcluster, []Wanted{wantQuota(t, "n", "one", false), wantQuota(t, "n", "two", false)})
	p := s.begin(t.Context(), insidetest.Agent("a"))
	left := []*unstructured.Unstructured{found[0].Live, found[1].Live}

	s.vcluster.Fail(insidetest.Failing("delete ResourceQuota n two"))
	s.vcluster.Writes()

	if err := p.Remove(t.Context(), left); !errors.Is(err, insidetest.ErrInjected) {
		t.Errorf("want %v, got %v", insidetest.ErrInjected, err)
	}

	s.vcluster.Heal()

	if err := p.Remove(t.Context(), left); err != nil {
		t.Error(err)
	}

	if diff := cmp.Diff([]string{"delete ResourceQuota n one", "delete ResourceQuota n one", "delete ResourceQuota n two"}, s.vcluster.Writes()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestExplained holds that a time-out says in words what it is.
func TestExplained(t *testing.T) {
	t.Parallel()

	s := newStage(t)
	s.vcluster.Fail(func(string) error { return context.DeadlineExceeded })

	_, err := Look(t.Context(), s.vcluster, []Wanted{wantNamespace(t, "n")})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "the tenant's API does not answer in time") {
		t.Errorf("got %v", err)
	}
}
