// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"slices"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

var agents = Kind{
	GroupVersionKind: v1alpha1.AdvisorAgentGroupVersionKind,
	Object:           func() client.Object { return &v1alpha1.AdvisorAgent{} },
	List:             func() resource.ManagedList { return &v1alpha1.AdvisorAgentList{} },
}

// TestRequests holds that news goes to who refers to the Tenant, in its namespace.
func TestRequests(t *testing.T) {
	t.Parallel()

	far, elsewhere := insidetest.Agent("far"), insidetest.Agent("elsewhere")
	far.Spec.TenantRef.Name = "someone-else"
	elsewhere.SetNamespace("other")

	kube := newKube(insidetest.Agent("a"), insidetest.Agent("b"), insidetest.Quota("q"), far, elsewhere)
	want := []string{"kubeopera-system/a", "kubeopera-system/b"}
	names := func(rs []reconcile.Request) []string {
		out := make([]string, 0, len(rs))
		for _, r := range rs {
			out = append(out, r.String())
		}

		slices.Sort(out)

		return out
	}

	if diff := cmp.Diff(want, names(referring(kube, agents)(t.Context(), insidetest.Tenant()))); diff != "" {
		t.Errorf("of the Tenant: -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(want, names(siblings(kube, agents)(t.Context(), insidetest.Agent("gone")))); diff != "" {
		t.Errorf("of another: -want, +got:\n%s", diff)
	}

	if got := siblings(kube, agents)(t.Context(), insidetest.Tenant()); len(got) > 0 {
		t.Errorf("a Tenant refers to none: %v", got)
	}

	unindexed := insidetest.NewKube("another", TenantNameOf)
	if got := referring(unindexed, agents)(t.Context(), insidetest.Tenant()); len(got) > 0 {
		t.Errorf("what cannot be listed: %v", got)
	}
}

func TestTenantNews(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		change func(*v1alpha1.Tenant)
		want   bool
	}{
		"Nothing":     {func(*v1alpha1.Tenant) {}, false},
		"Message":     {func(t *v1alpha1.Tenant) { t.Status.Message = "x" }, false},
		"Phase":       {func(t *v1alpha1.Tenant) { t.Status.Phase = v1alpha1.PhaseInstallingFlux }, false},
		"Words":       {func(t *v1alpha1.Tenant) { setAPI(t, corev1.ConditionTrue, "in other words") }, false},
		"Unreachable": {func(t *v1alpha1.Tenant) { setAPI(t, corev1.ConditionFalse, "") }, true},
		"Secret":      {func(t *v1alpha1.Tenant) { t.Status.KubeconfigSecret = "another" }, true},
		"UID":         {func(t *v1alpha1.Tenant) { t.UID = "another" }, true},
		"Deleted":     {func(t *v1alpha1.Tenant) { t.SetDeletionTimestamp(&metav1.Time{Time: insidetest.Epoch}) }, true},
	}
	for name, tc := range cases {
		is := insidetest.Tenant()
		tc.change(is)

		if got := tenantNews().Update(event.UpdateEvent{ObjectOld: insidetest.Tenant(), ObjectNew: is}); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}

	if !tenantNews().Create(event.CreateEvent{Object: insidetest.Tenant()}) || !tenantNews().Delete(event.DeleteEvent{Object: insidetest.Tenant()}) {
		t.Error("a Tenant that comes or goes is news")
	}

	if tenantNews().Update(event.UpdateEvent{ObjectOld: insidetest.Agent("a"), ObjectNew: insidetest.Agent("a")}) {
		t.Error("what is no Tenant is no news")
	}
}

func setAPI(t *v1alpha1.Tenant, s corev1.ConditionStatus, message string) {
	t.SetConditions(xpv2.Condition{Type: v1alpha1.TypeAPIReachable, Status: s, Message: message})
}

func TestDeletions(t *testing.T) {
	t.Parallel()

	p, a := deletions(), insidetest.Agent("a")
	if p.Create(event.CreateEvent{Object: a}) || p.Update(event.UpdateEvent{ObjectOld: a, ObjectNew: a}) || p.Generic(event.GenericEvent{Object: a}) ||
		!p.Delete(event.DeleteEvent{Object: a}) {
		t.Error("only that one is gone is of interest to the others")
	}
}
