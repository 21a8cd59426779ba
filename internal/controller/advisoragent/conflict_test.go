// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisoragent

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

// TestConflicts holds that of two that name one Tenant the first has it, until it
// is gone.
func TestConflicts(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Agent("a"), insidetest.Agent("b"))...)
	w.arrive()

	b := w.Reconcile("b")
	w.Expect(b, v1alpha1.ReasonConflict, `Namespace "app-advisor" inside the vCluster belongs to AdvisorAgent "kubeopera-system/a"; delete that one, or this`)

	if insidetest.Synced(b) || len(w.VCluster.Writes()) > 0 {
		t.Error("something of the other was touched")
	}

	w.Remove("b")

	if w.Reconcile("b") != nil {
		t.Error("it has nothing to remove, and is still there")
	}

	if got := w.VCluster.Writes(); len(got) > 0 {
		t.Errorf("something of the other was removed: %v", got)
	}

	// Another takes over what the first leaves behind.
	w.Must(w.Kube.Create(t.Context(), fresh("c")))
	w.Reconcile("c")
	insidetest.Change(w.T, w.Kube, insidetest.Agent("a"), func(a *v1alpha1.AdvisorAgent) { a.SetFinalizers(nil) })
	w.Remove("a")
	w.Reconcile("c")
	w.bringUp()

	if c := w.Reconcile("c"); c.GetCondition(xpv2.TypeReady).Reason != xpv2.ReasonAvailable {
		t.Errorf("%q", c.Status.Message)
	}

	ns := namespace()
	w.Must(w.VCluster.Get(t.Context(), client.ObjectKeyFromObject(ns), ns))

	if got := ns.Labels[inside.LabelOwnerUID]; got != "uid-c" || ns.Annotations[inside.AnnotationOwner] != "kubeopera-system/c" {
		t.Errorf("it belongs to %q", got)
	}
}

// TestHandOver holds that one which another takes over from leaves everything in
// place, with what people put beside it.
func TestHandOver(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Agent("a"), insidetest.Agent("b"))...)
	w.arrive()
	w.Reconcile("b")
	w.VCluster.Writes()
	w.Remove("a")

	if w.Reconcile("a") != nil {
		t.Error("it waits although another takes over")
	}

	if got := w.VCluster.Writes(); len(got) > 0 {
		t.Errorf("something was removed that is taken over: %v", got)
	}

	w.Reconcile("b")
	w.bringUp()
	w.Expect(w.Reconcile("b"), xpv2.ReasonAvailable, messageReady)
	w.VCluster.Writes()
	w.Remove("b")
	w.Reconcile("b")

	if got := w.VCluster.Writes(); len(got) != 6 {
		t.Errorf("the last one removes all of it, got %v", got)
	}
}

// fresh is an AdvisorAgent that can be created.
func fresh(name string) *v1alpha1.AdvisorAgent {
	a := insidetest.Agent(name)
	a.SetResourceVersion("")

	return a
}

func TestForeign(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
	theirs := namespace()
	theirs.SetUID("uid-theirs")
	w.Must(w.VCluster.Create(t.Context(), theirs))
	w.VCluster.Writes()

	a := w.Reconcile("a")
	w.Expect(a, v1alpha1.ReasonConflict, `Namespace "app-advisor" inside the vCluster was not made by this provider; delete it there or, to hand it over for good, set its label kubeopera.io/managed-by to tenant-controller`)

	if len(w.VCluster.Writes()) > 0 {
		t.Error("something foreign was touched")
	}

	insidetest.Change(w.T, w.VCluster, namespace(), func(ns *corev1.Namespace) {
		ns.SetLabels(map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy})
	})
	w.arrive()
}
