// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantquota

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

const (
	observe = xpv2.ManagementActionObserve
	create  = xpv2.ManagementActionCreate
)

// TestPolicies holds what each sensible set of policies lets a TenantQuota do: make
// what is not there, repair what is, and take it away.
func TestPolicies(t *testing.T) {
	t.Parallel()

	for name, tc := range insidetest.PolicyCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, insidetest.Ready(insidetest.Policies(insidetest.Quota("q"), tc.Policies...))...)

			q := w.Reconcile("q")
			if made := len(w.VCluster.Writes()) > 0; made != tc.Makes {
				t.Errorf("made: %t", made)
			}

			if !tc.Makes {
				w.Expect(q, xpv2.ReasonUnavailable, "do not allow to create it")
				insidetest.Change(w.T, w.Kube, insidetest.Quota("q"), func(q *v1alpha1.TenantQuota) { q.SetManagementPolicies(xpv2.ManagementPolicies{observe, create}) })
				w.Reconcile("q")
				insidetest.Change(w.T, w.Kube, insidetest.Quota("q"), func(q *v1alpha1.TenantQuota) { q.SetManagementPolicies(tc.Policies) })
			}

			w.Expect(w.Reconcile("q"), xpv2.ReasonAvailable, messageReady)
			w.VCluster.Writes()

			insidetest.Change(w.T, w.VCluster, quotaIn("default"), func(q *corev1.ResourceQuota) { q.Spec.Hard = nil })

			q = w.Reconcile("q")
			if repaired := len(w.VCluster.Writes()) > 0; repaired != tc.Repairs || strings.Contains(q.Status.Message, "do not allow to change it") == tc.Repairs {
				t.Errorf("repaired: %t: %s", repaired, q.Status.Message)
			}

			w.Remove("q")
			w.Reconcile("q")

			if removed := len(w.VCluster.Writes()) > 0; removed != tc.Removes || w.Has(quotaIn("default")) == tc.Removes {
				t.Errorf("removed: %t", removed)
			}
		})
	}
}

// TestCreateEnds holds that what is missing is made where nothing may be updated, and
// that what is there already, or no longer wanted, is left as it is.
func TestCreateEnds(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Policies(quotaFor("default", "team"), observe, create))...)
	w.Reconcile("q")
	w.Expect(w.Reconcile("q"), xpv2.ReasonAvailable, messageReady)

	w.Take(quotaIn("default"))
	insidetest.Change(w.T, w.VCluster, limitsIn("default"), func(l *corev1.LimitRange) { l.Spec.Limits = nil })
	insidetest.Change(w.T, w.Kube, insidetest.Quota("q"), func(q *v1alpha1.TenantQuota) { q.Spec.Namespaces = []string{"default", "more"} })
	w.VCluster.Writes()
	w.Reconcile("q")

	want := []string{"apply ResourceQuota default kubeopera-tenant", "create Namespace more", "create LimitRange more kubeopera-tenant", "apply LimitRange more kubeopera-tenant", "apply ResourceQuota more kubeopera-tenant"}
	if diff := cmp.Diff(want, w.VCluster.Writes()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestPaused holds that who is paused is looked at only after.
func TestPaused(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Quota("q"))...)
	w.arrive("q")

	pause := func(v string) {
		insidetest.Change(w.T, w.Kube, insidetest.Quota("q"), func(q *v1alpha1.TenantQuota) {
			meta.AddAnnotations(q, map[string]string{meta.AnnotationKeyReconciliationPaused: v})
			delete(q.Spec.Hard, corev1.ResourceLimitsCPU)
		})
	}

	pause("true")

	if q := w.Reconcile("q"); q.GetCondition(xpv2.TypeSynced).Reason != xpv2.ReasonReconcilePaused || len(w.VCluster.Writes()) > 0 {
		t.Errorf("while it is paused: %+v", q.GetCondition(xpv2.TypeSynced))
	}

	pause("false")

	if w.Reconcile("q"); len(w.VCluster.Writes()) == 0 {
		t.Error("it does not go on")
	}
}

func TestPollAnnotation(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Quota("q"))...)
	w.arrive("q")

	for d, want := range map[string]time.Duration{"2h": 2 * time.Hour, "10s": 10 * time.Second, "1s": 5 * time.Second} {
		insidetest.Change(w.T, w.Kube, insidetest.Quota("q"), func(q *v1alpha1.TenantQuota) { insidetest.PollEvery(q, d) })

		if got := w.Poll("q"); got < want || got > want+want/10 {
			t.Errorf("%s: it is looked at after %s, want %s", d, got, want)
		}
	}
}
