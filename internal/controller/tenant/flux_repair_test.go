// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/quota"
)

// TestFluxScaledDown holds that a Flux that someone scaled to 0 is scaled up again,
// without Helm: what it does not use of the wall would be the customer's.
func TestFluxScaledDown(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().WithFlux("").Obj()
	w.arrive(tn)
	w.mustPass(tn)
	w.journal.clear()

	change(w, w.inner, "flux-system", "source-controller", func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](0) })

	if o := w.mustPass(tn); o.ResourceUpToDate {
		t.Error("a Flux without replicas is no settled one")
	}

	if diff := cmp.Diff([]string{"inner patch Deployment source-controller"}, w.journal.take()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	d := read[*appsv1.Deployment](w, w.inner, "flux-system", "source-controller")
	if ptr.Deref(d.Spec.Replicas, 0) != 1 {
		t.Errorf("it has %d replicas, want 1", ptr.Deref(d.Spec.Replicas, 0))
	}

	if o := w.mustPass(tn); !o.ResourceUpToDate || len(w.journal.take()) > 0 {
		t.Error("what is right is written again")
	}
}

// TestFluxThatCannotBeCounted holds that values which make no readable objects are
// refused before Helm, so that taking them back is enough.
func TestFluxThatCannotBeCounted(t *testing.T) {
	t.Parallel()

	w, b := newWorld(t), alice().WithFlux("")
	w.arrive(b.Obj())
	w.journal.clear()

	w.fluxNeeds = func() (quota.Allowance, error) { return quota.Allowance{}, errInjected }
	b.WithFlux(`{"sourceController": {"resources": "x"}}`).SetGeneration(2)

	if _, err := w.pass(b.Obj()); err == nil || !strings.Contains(err.Error(), errInjected.Error()) {
		t.Errorf("want the reason, got %v", err)
	}

	for _, a := range w.journal.take() {
		if a == fluxUpgrade {
			t.Error("Helm has written what cannot be read again")
		}
	}

	if b.Status.Phase != v1alpha1.PhaseReady || !strings.Contains(b.Status.Message, "a change waits") {
		t.Errorf("what runs goes on to run: %s: %s", b.Status.Phase, b.Status.Message)
	}
}
