// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantquota

import (
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

// quotaFor is the TenantQuota q in these namespaces.
func quotaFor(namespaces ...string) *v1alpha1.TenantQuota {
	q := insidetest.Quota("q")
	q.Spec.Namespaces = namespaces

	return q
}

// TestLife follows a TenantQuota from its first pass to Ready, and holds that it is
// then left alone.
func TestLife(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Quota("q"))...)
	w.Reconcile("q")

	want := []string{"create LimitRange default kubeopera-tenant", "apply LimitRange default kubeopera-tenant", "apply ResourceQuota default kubeopera-tenant"}
	if diff := cmp.Diff(want, w.VCluster.Writes()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	q := w.Reconcile("q")
	w.Expect(q, xpv2.ReasonAvailable, "quota in place in namespace default")

	if diff := cmp.Diff([]string{"default"}, q.Status.Namespaces); diff != "" || !insidetest.Synced(q) || meta.ExternalCreateIncomplete(q) || q.Status.GetObservedGeneration() != 1 {
		t.Errorf("namespaces: %s, annotations %v", diff, q.GetAnnotations())
	}

	have := quotaIn("default")
	if !w.Has(have) || have.Spec.Hard.Name(corev1.ResourceLimitsCPU, resource.DecimalSI).String() != "4" || have.Labels[inside.LabelOwnerUID] != "uid-q" {
		t.Errorf("the quota is %v", have)
	}

	for range 20 {
		if diff := cmp.Diff(q.Status, w.Reconcile("q").Status); diff != "" {
			t.Fatalf("the status moves: %s", diff)
		}
	}

	if got := w.VCluster.Writes(); len(got) > 0 {
		t.Errorf("what is Ready was written: %v", got)
	}
}

// TestNamespaces follows the list of namespaces.
func TestNamespaces(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(quotaFor("default", "team-b", "team-a"))...)
	w.makeNamespaces("team-a")
	w.Reconcile("q")

	q := w.Reconcile("q")
	w.Expect(q, xpv2.ReasonAvailable, "quota in place in 3 namespaces")

	if diff := cmp.Diff([]string{"default", "team-a", "team-b"}, q.Status.Namespaces); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	made, given := &corev1.Namespace{}, &corev1.Namespace{}
	made.SetName("team-b")
	given.SetName("team-a")

	if !w.Has(made) || made.Labels[v1alpha1.LabelManagedBy] != v1alpha1.ManagedBy || made.Labels[inside.LabelOwnerUID] != "" {
		t.Errorf("the namespace that was made has labels %v", made.Labels)
	}

	if !w.Has(given) || len(given.Labels) > 0 {
		t.Errorf("the namespace that was there has labels %v", given.Labels)
	}

	w.VCluster.Writes()
	insidetest.Change(w.T, w.Kube, insidetest.Quota("q"), func(q *v1alpha1.TenantQuota) { q.Spec.Namespaces = []string{"default"} })

	q = w.Reconcile("q")
	w.Expect(q, xpv2.ReasonAvailable, "quota in place in namespace default")

	want := []string{
		"delete ResourceQuota team-a kubeopera-tenant", "delete ResourceQuota team-b kubeopera-tenant",
		"delete LimitRange team-a kubeopera-tenant", "delete LimitRange team-b kubeopera-tenant",
	}
	if diff := cmp.Diff(want, w.VCluster.Writes()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	if !w.Has(made) {
		t.Error("a namespace was deleted")
	}
}

func TestRepairs(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		harm   func(*world)
		want   []string
	}{
		"Changed": {"someone raised it", func(w *world) {
			insidetest.Change(w.T, w.VCluster, quotaIn("default"), func(q *corev1.ResourceQuota) { q.Spec.Hard[corev1.ResourceLimitsCPU] = resource.MustParse("99") })
		}, []string{"apply ResourceQuota default kubeopera-tenant"}},
		"Q6: the tenant deletes the inner quota": {"someone deleted it", func(w *world) { w.Take(quotaIn("default")) }, []string{"apply ResourceQuota default kubeopera-tenant"}},
		"Limits": {
			"someone deleted what it needs beside it", func(w *world) { w.Take(limitsIn("default")) },
			[]string{"create LimitRange default kubeopera-tenant", "apply LimitRange default kubeopera-tenant"},
		},
		"Emptied": {"someone emptied that", func(w *world) {
			insidetest.Change(w.T, w.VCluster, limitsIn("default"), func(l *corev1.LimitRange) { l.Spec.Limits = nil })
		}, []string{"apply LimitRange default kubeopera-tenant"}},
		"Labels": {"someone took a label away", func(w *world) {
			insidetest.Change(w.T, w.VCluster, quotaIn("default"), func(q *corev1.ResourceQuota) { delete(q.Labels, inside.LabelOwnerUID) })
		}, []string{"apply ResourceQuota default kubeopera-tenant"}},
		"Spec": {"the spec was changed", func(w *world) {
			insidetest.Change(w.T, w.Kube, insidetest.Quota("q"), func(q *v1alpha1.TenantQuota) { q.Spec.Hard = hard("pods", "7") })
		}, []string{"apply ResourceQuota default kubeopera-tenant"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, insidetest.Ready(insidetest.Quota("q"))...)
			w.arrive("q")
			tc.harm(w)
			w.Expect(w.Reconcile("q"), xpv2.ReasonAvailable, messageReady)

			if diff := cmp.Diff(tc.want, w.VCluster.Writes()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			w.Expect(w.Reconcile("q"), xpv2.ReasonAvailable, messageReady)

			if got := w.VCluster.Writes(); len(got) > 0 {
				t.Errorf("%s: repaired twice: %v", tc.reason, got)
			}
		})
	}
}

// TestNamespaceGoesAway holds that nothing is made in a namespace that goes.
func TestNamespaceGoesAway(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(quotaFor("default", "team"))...)
	w.arrive("q")

	ns := &corev1.Namespace{}
	ns.SetName("team")
	w.Take(ns)
	w.Take(quotaIn("team"))

	w.Expect(w.Reconcile("q"), xpv2.ReasonCreating, `someone deleted Namespace "team" inside the vCluster; it is made anew once it is gone`)

	if got := w.VCluster.Writes(); len(got) > 0 {
		t.Errorf("wrote %v", got)
	}

	w.VCluster.EndNamespace("team")
	w.arrive("q")
}

func TestWaits(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Quota("q"))

	q := w.Reconcile("q")
	w.Expect(q, xpv2.ReasonUnavailable, "create it, or delete this TenantQuota")

	if !insidetest.Synced(q) {
		t.Error("to wait is no error")
	}

	tn := insidetest.Tenant()
	w.Must(w.Kube.Create(t.Context(), tn))
	w.Expect(w.Reconcile("q"), xpv2.ReasonCreating, "waiting for the Tenant: there is no kubeconfig yet")

	w.Must(w.Kube.Create(t.Context(), insidetest.Secret(tn, insidetest.Kubeconfig())))
	w.arrive("q")

	tn.SetConditions(xpv2.Condition{Type: v1alpha1.TypeAPIReachable, Status: corev1.ConditionFalse})
	w.Must(w.Kube.Status().Update(t.Context(), tn))
	w.Expect(w.Reconcile("q"), xpv2.ReasonAvailable, "quota in place when it was last seen, and cannot be looked at now: the tenant's API cannot be reached")
}

// TestConflicts holds that of two the first has a namespace, until it is gone.
func TestConflicts(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Quota("q"), insidetest.Quota("r"))...)
	w.arrive("q")
	w.Expect(w.Reconcile("r"), v1alpha1.ReasonConflict, `LimitRange "kubeopera-tenant" in namespace "default" inside the vCluster belongs to TenantQuota "kubeopera-system/q"; delete that one, or this`)

	insidetest.Change(w.T, w.Kube, insidetest.Quota("r"), func(q *v1alpha1.TenantQuota) { q.Spec.Namespaces = []string{"another"} })
	w.arrive("r")

	insidetest.Change(w.T, w.Kube, insidetest.Quota("r"), func(q *v1alpha1.TenantQuota) { q.Spec.Namespaces = []string{"another", "default"} })
	w.Expect(w.Reconcile("r"), v1alpha1.ReasonConflict, `belongs to TenantQuota "kubeopera-system/q"`)

	w.Remove("q")

	w.Reconcile("q")

	if w.Reconcile("q") != nil {
		t.Fatal("the first is still there")
	}

	w.arrive("r")
}

func TestForeign(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Quota("q"))...)
	theirs := quotaIn("default")
	theirs.SetUID("uid-theirs")
	w.Must(w.VCluster.Create(t.Context(), theirs))
	w.VCluster.Writes()

	w.Expect(w.Reconcile("q"), v1alpha1.ReasonConflict, `ResourceQuota "kubeopera-tenant" in namespace "default" inside the vCluster was not made by this provider`)

	if got := w.VCluster.Writes(); len(got) > 0 {
		t.Errorf("something foreign was touched: %v", got)
	}
}

// TestFailures holds that each failure is told, and passes.
func TestFailures(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		action string
		says   string
	}{
		"Limits":    {"the limits cannot be read", "get LimitRange", `cannot read LimitRange "kubeopera-tenant" in namespace "default" inside the vCluster: injected failure`},
		"Namespace": {"the namespace cannot be read", "get Namespace", `cannot read Namespace "default" inside the vCluster: injected failure`},
		"List":      {"what was made cannot be listed", "list ResourceQuota", "cannot list ResourceQuota objects inside the vCluster: injected failure"},
		"Create":    {"the namespace cannot be made", "create Namespace new", `cannot create Namespace "new" inside the vCluster: injected failure`},
		"Write":     {"the quota cannot be written", "apply ResourceQuota default", `cannot write ResourceQuota "kubeopera-tenant" in namespace "default" inside the vCluster: injected failure`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, insidetest.Ready(quotaFor("default", "new"))...)
			w.VCluster.Fail(insidetest.Failing(tc.action))

			q := w.Reconcile("q")
			if !strings.Contains(q.Status.Message, tc.says) || insidetest.Synced(q) || meta.ExternalCreateIncomplete(q) {
				t.Errorf("%s: %q, annotations %v", tc.reason, q.Status.Message, q.GetAnnotations())
			}

			w.Expect(w.Reconcile("q"), xpv2.ReasonUnavailable, tc.says)
			w.VCluster.Heal()
			w.arrive("q")
		})
	}
}

// TestOneNamespaceRefuses holds that the others get their quota all the same.
func TestOneNamespaceRefuses(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(quotaFor("a", "b"))...)
	w.VCluster.Fail(insidetest.Failing("apply ResourceQuota a"))

	q := w.Reconcile("q")
	if !strings.Contains(q.Status.Message, `in namespace "a"`) || !w.Has(quotaIn("b")) {
		t.Errorf("%q", q.Status.Message)
	}

	q = w.Reconcile("q")
	if diff := cmp.Diff([]string{"b"}, q.Status.Namespaces); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestRefused holds that what the tenant's API server says of a quota is the message.
func TestRefused(t *testing.T) {
	t.Parallel()

	refusal := kerrors.NewInvalid(schema.GroupKind{Kind: "ResourceQuota"}, "kubeopera-tenant: spec.hard[bananas]", nil)

	w := newWorld(t, insidetest.Ready(insidetest.Quota("q"))...)
	w.arrive("q")
	w.VCluster.Fail(func(action string) error {
		if strings.HasSuffix(action, "ResourceQuota default kubeopera-tenant") && !strings.HasPrefix(action, "get") {
			return refusal
		}

		return nil
	})

	q := w.Reconcile("q")
	w.Expect(q, xpv2.ReasonUnavailable, "spec.hard[bananas]")

	if insidetest.Synced(q) || len(q.Status.Namespaces) > 0 {
		t.Errorf("status: %+v", q.Status)
	}
}

// TestStaleStays holds that what left the list and cannot be removed is told, and
// is no less Ready for it: the quota holds wherever it should.
func TestStaleStays(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(quotaFor("default", "team"))...)
	w.arrive("q")
	insidetest.Change(w.T, w.Kube, insidetest.Quota("q"), func(q *v1alpha1.TenantQuota) { q.Spec.Namespaces = []string{"default"} })
	w.VCluster.Fail(insidetest.Failing("delete"))

	for range 2 {
		q := w.Reconcile("q")
		w.Expect(q, xpv2.ReasonAvailable,
			`quota in place in namespace default; a change failed: cannot delete ResourceQuota "kubeopera-tenant" in namespace "team" inside the vCluster: injected failure`)

		if insidetest.Synced(q) {
			t.Error("a change that failed is not synced")
		}
	}

	// What does not hold where it should is not Ready, whatever else fails.
	w.VCluster.Heal()
	w.Take(quotaIn("default"))
	w.VCluster.Fail(func(action string) error {
		if strings.HasPrefix(action, "apply") || strings.HasPrefix(action, "delete") {
			return insidetest.ErrInjected
		}

		return nil
	})
	w.Expect(w.Reconcile("q"), xpv2.ReasonUnavailable, `cannot write ResourceQuota "kubeopera-tenant" in namespace "default"`)
	w.VCluster.Heal()
	w.arrive("q")

	if w.Has(quotaIn("team")) || w.Has(limitsIn("team")) {
		t.Error("it is still there")
	}
}

// TestLostAfterWrite holds that what cannot be looked at after a write is told.
func TestLostAfterWrite(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Quota("q"))...)
	written := false
	w.VCluster.Fail(func(action string) error {
		if written && strings.HasPrefix(action, "list") {
			return insidetest.ErrInjected
		}

		written = written || strings.HasPrefix(action, "apply ResourceQuota")

		return nil
	})

	w.Reconcile("q")

	if q := w.Reconcile("q"); !strings.Contains(q.Status.Message, "injected failure") || insidetest.Synced(q) || !written {
		t.Errorf("%q", q.Status.Message)
	}

	w.VCluster.Heal()
	w.arrive("q")
}

// TestHandsOff holds that what only observes writes nothing, and says where it stands.
func TestHandsOff(t *testing.T) {
	t.Parallel()

	q := quotaFor("default", "team")
	w := newWorld(t, insidetest.Ready(q)...)
	w.arrive("q")
	insidetest.Change(w.T, w.Kube, q, func(q *v1alpha1.TenantQuota) {
		q.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
	})
	w.Take(quotaIn("team"))
	w.Expect(w.Reconcile("q"), xpv2.ReasonCreating, "quota in place in 1 of 2 namespaces; it is not as the spec says, and spec.managementPolicies do not allow to change it")
	w.Take(quotaIn("default"))
	w.Take(limitsIn("default"))
	w.Take(limitsIn("team"))
	w.Expect(w.Reconcile("q"), xpv2.ReasonUnavailable, "nothing of it is inside the vCluster, and spec.managementPolicies do not allow to create it")

	if got := w.VCluster.Writes(); len(got) > 0 {
		t.Errorf("it wrote %v", got)
	}
}
