// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const paused = meta.AnnotationKeyReconciliationPaused

// Annotated has these annotations and no others.
func (b tenantBuilder) Annotated(a map[string]string) tenantBuilder {
	b.SetAnnotations(a)
	return b
}

// counting counts the passes that come after.
type counting struct{ passes int }

func (c *counting) Reconcile(context.Context, reconcile.Request) (reconcile.Result, error) {
	c.passes++
	return reconcile.Result{}, nil
}

// TestHandOn holds that the AdvisorAgent and the TenantQuota that a Tenant made follow
// its policies and its pause, and that those of others do not.
func TestHandOn(t *testing.T) {
	t.Parallel()

	all := xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	observe := xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
	yes := map[string]string{paused: "true"}
	byTenant := map[string]string{paused: "true", v1alpha1.AnnotationPausedByTenant: "true"}
	both := []string{updateAgent, requota}

	cases := map[string]struct {
		reason string
		tenant tenantBuilder
		// have and want are the children's.
		have         map[string]string
		wantPolicies xpv2.ManagementPolicies
		want         map[string]string
		writes       []string
	}{
		"Nothing":   {"nothing to hand on", alice(), nil, all, nil, nil},
		"Policies":  {"it only looks", alice().Policies(observe...), nil, observe, nil, both},
		"Paused":    {"it is paused", alice().Annotated(yes), nil, all, byTenant, both},
		"NoPolicy":  {"no policy at all is a pause, too, and not theirs", alice().Policies(), nil, all, byTenant, both},
		"StillSo":   {"what is done is done", alice().Annotated(yes), byTenant, all, byTenant, nil},
		"GoesOn":    {"it is no longer paused", alice(), byTenant, all, map[string]string{}, both},
		"ByHand":    {"whom a person paused stays paused", alice(), yes, all, yes, nil},
		"ByBoth":    {"also when the Tenant is paused and goes on", alice().Annotated(yes), yes, all, yes, nil},
		"Falsely":   {"any other value is no pause", alice().Annotated(map[string]string{paused: "yes"}), nil, all, nil, nil},
		"Deleted":   {"one that is let go hands that on before it goes", alice().Policies(observe...).Deleted(epoch), nil, observe, nil, both},
		"Together":  {"both at once", alice().Policies(observe...).Annotated(yes), nil, observe, byTenant, both},
		"NotPaused": {"an annotation without its pair is not ours", alice(), map[string]string{v1alpha1.AnnotationPausedByTenant: "yes"}, all, map[string]string{v1alpha1.AnnotationPausedByTenant: "yes"}, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tn := tc.tenant.Obj()
			owner := []metav1.OwnerReference{meta.AsController(meta.TypedReferenceTo(tn, v1alpha1.TenantGroupVersionKind))}
			a, q := agent("alice-default", "alice-default"), tenantQuota("alice-default", "alice-default")

			for _, o := range []resource.Managed{a, q} {
				o.SetOwnerReferences(owner)
				o.SetAnnotations(tc.have)
				o.SetManagementPolicies(all)
			}

			w := newWorld(t, tn.DeepCopy(), a, q, agent("other", "alice-default"), tenantQuota("other", "alice-default"))
			next := &counting{}

			if _, err := (handingOn{Reconciler: next, kube: w.kube, record: w.events}).Reconcile(t.Context(), reconcile.Request{NamespacedName: aliceKey}); err != nil || next.passes != 1 {
				t.Fatalf("%s: %d passes, %v", tc.reason, next.passes, err)
			}

			if diff := cmp.Diff(tc.writes, w.journal.take()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			for _, o := range []resource.Managed{w.myAgent(), w.myQuota()} {
				if !sameKeys(o.GetAnnotations(), tc.want) || !cmp.Equal(o.GetManagementPolicies(), tc.wantPolicies) {
					t.Errorf("%s: %T: %v, %v", tc.reason, o, o.GetAnnotations(), o.GetManagementPolicies())
				}
			}
		})
	}
}

// sameKeys compares two maps; nil is an empty one.
func sameKeys(a, b map[string]string) bool { return contains(a, b) && contains(b, a) }

// TestHandOnFails holds that a Tenant is not looked at before what it hands on is
// stored: it might be gone after it.
func TestHandOnFails(t *testing.T) {
	t.Parallel()

	tn := alice().Policies(xpv2.ManagementActionObserve).Obj()
	q := tenantQuota("alice-default", "alice-default")
	q.SetOwnerReferences([]metav1.OwnerReference{meta.AsController(meta.TypedReferenceTo(tn, v1alpha1.TenantGroupVersionKind))})

	cases := map[string]struct {
		reason string
		fail   func(*world)
		errs   bool
	}{
		"Tenant":  {"it cannot be read", func(w *world) { w.reads.failOn = "get Tenant alice-default" }, true},
		"Agents":  {"they cannot be listed", func(w *world) { w.reads.failOn = "list *v1alpha1.AdvisorAgentList" }, true},
		"Quotas":  {"nor these", func(w *world) { w.reads.failOn = "list *v1alpha1.TenantQuotaList" }, true},
		"Refused": {"it is refused", func(w *world) { w.refuseWrites = func(string) error { return errInjected } }, true},
		"Race": {"somebody else was faster, which is no failure", func(w *world) {
			w.refuseWrites = func(string) error { return kerrors.NewConflict(schema.GroupResource{}, "q", errInjected) }
		}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, next := newWorld(t, tn.DeepCopy(), q.DeepCopy()), &counting{}
			tc.fail(w)

			r, err := (handingOn{Reconciler: next, kube: w.kube, record: w.events}).Reconcile(t.Context(), reconcile.Request{NamespacedName: aliceKey})
			if errors.Is(err, errInjected) != tc.errs || next.passes != 0 || r.Requeue == tc.errs || w.events.has(reasonCannotHandOn) != (tc.errs && name != "Tenant") { //nolint:staticcheck // It is what the runtime uses.
				t.Errorf("%s: %d passes, %+v, %v", tc.reason, next.passes, r, err)
			}
		})
	}

	w, next := newWorld(t, tn.DeepCopy(), q.DeepCopy()), &counting{}
	w.refuseWrites = func(string) error { return kerrors.NewNotFound(schema.GroupResource{}, "q") }

	if _, err := (handingOn{Reconciler: next, kube: w.kube, record: w.events}).Reconcile(t.Context(), reconcile.Request{NamespacedName: aliceKey}); err != nil || next.passes != 1 {
		t.Errorf("one whose child has just gone: %d passes, %v", next.passes, err)
	}

	next = &counting{}
	if _, err := (handingOn{Reconciler: next, kube: newWorld(t).kube}).Reconcile(t.Context(), reconcile.Request{NamespacedName: aliceKey}); err != nil || next.passes != 1 {
		t.Errorf("one that is gone: %d passes, %v", next.passes, err)
	}
}
