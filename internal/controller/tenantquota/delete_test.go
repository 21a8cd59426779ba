// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantquota

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

// TestDeletion holds that it removes all that it has made, in whatever namespace,
// and nothing else.
func TestDeletion(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(quotaFor("default", "team"))...)
	w.arrive("q")
	// The spec no longer names it, and no pass has seen that.
	insidetest.Change(w.T, w.Kube, insidetest.Quota("q"), func(q *v1alpha1.TenantQuota) { q.Spec.Namespaces = []string{"default"} })
	w.Remove("q")

	w.Expect(w.Reconcile("q"), xpv2.ReasonDeleting, `waiting for LimitRange "kubeopera-tenant" in namespace "team" inside the vCluster`)

	want := []string{
		"delete ResourceQuota default kubeopera-tenant", "delete ResourceQuota team kubeopera-tenant",
		"delete LimitRange default kubeopera-tenant", "delete LimitRange team kubeopera-tenant",
	}
	if diff := cmp.Diff(want, w.VCluster.Writes()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	if w.Reconcile("q") != nil {
		t.Error("nothing is left, and it is still there")
	}

	team := &corev1.Namespace{}
	team.SetName("team")

	if !w.Has(team) {
		t.Error("a namespace was deleted")
	}
}

// TestDeletionFails holds that what cannot be removed or looked at is not gone.
func TestDeletionFails(t *testing.T) {
	t.Parallel()

	for _, action := range []string{"delete LimitRange", "list LimitRange"} {
		w := newWorld(t, insidetest.Ready(insidetest.Quota("q"))...)
		w.arrive("q")
		w.Remove("q")
		w.VCluster.Fail(insidetest.Failing(action))

		for range 3 {
			q := w.Reconcile("q")
			if q == nil {
				t.Fatalf("%s: it is gone", action)
			}

			w.Expect(q, xpv2.ReasonDeleting, "injected failure")
		}

		w.VCluster.Heal()
		w.Reconcile("q")

		if w.Reconcile("q") != nil {
			t.Errorf("%s: it is still there", action)
		}
	}
}

// TestDeletionWithoutTenant holds that nothing holds it when its vCluster is gone.
func TestDeletionWithoutTenant(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(quotaFor("default", "team"))...)
	w.arrive("q")
	insidetest.Change(w.T, w.Kube, insidetest.Quota("q"), func(q *v1alpha1.TenantQuota) { q.Spec.Namespaces = []string{"new"} })
	w.Must(w.Kube.Delete(t.Context(), insidetest.Tenant()))
	w.Remove("q")

	if w.Reconcile("q") != nil {
		t.Error("it is still there")
	}

	got := w.Events.Take(inside.ReasonSkipped)
	if len(got) != 1 || !strings.Contains(got[0], "ResourceQuota and LimitRange kubeopera-tenant in default, new, team") {
		t.Errorf("events: %v", got)
	}
}

// TestDeletionOfWhatNeverWas holds that the quota of a Tenant that never had a vCluster
// goes without a word: nothing can be left.
func TestDeletionOfWhatNeverWas(t *testing.T) {
	t.Parallel()

	refused, q := insidetest.Tenant(), quotaFor("default")
	refused.Status.KubeconfigSecret = ""
	q.SetLabels(nil)

	w := newWorld(t, refused, q)
	w.Expect(w.Reconcile("q"), xpv2.ReasonCreating, "has not published")
	w.Must(w.Kube.Delete(t.Context(), refused))
	w.Remove("q")

	if w.Reconcile("q") != nil {
		t.Error("it is still there")
	}

	if got := w.Events.Take(inside.ReasonSkipped); len(got) > 0 {
		t.Errorf("events: %v", got)
	}
}
