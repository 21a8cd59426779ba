// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisoragent

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

const (
	observe = xpv2.ManagementActionObserve
	create  = xpv2.ManagementActionCreate
)

// TestPolicies holds what each sensible set of policies lets an AdvisorAgent do: make
// what is not there, repair what is, and take it away.
func TestPolicies(t *testing.T) {
	t.Parallel()

	for name, tc := range insidetest.PolicyCases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, insidetest.Ready(insidetest.Policies(insidetest.Agent("a"), tc.Policies...))...)

			a := w.Reconcile("a")
			if made := len(w.VCluster.Writes()) > 0; made != tc.Makes {
				t.Errorf("made: %t", made)
			}

			if !tc.Makes {
				w.Expect(a, xpv2.ReasonUnavailable, "do not allow to create it")
				insidetest.Change(w.T, w.Kube, insidetest.Agent("a"), func(a *v1alpha1.AdvisorAgent) { a.SetManagementPolicies(xpv2.ManagementPolicies{observe, create}) })
				w.Reconcile("a")
				insidetest.Change(w.T, w.Kube, insidetest.Agent("a"), func(a *v1alpha1.AdvisorAgent) { a.SetManagementPolicies(tc.Policies) })
			}

			w.bringUp()
			w.Expect(w.Reconcile("a"), xpv2.ReasonAvailable, messageReady)
			w.VCluster.Writes()

			insidetest.Change(w.T, w.VCluster, theDeployment(), func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "edited" })

			a = w.Reconcile("a")
			if repaired := len(w.VCluster.Writes()) > 0; repaired != tc.Repairs || strings.Contains(a.Status.Message, "do not allow to change it") == tc.Repairs {
				t.Errorf("repaired: %t: %s", repaired, a.Status.Message)
			}

			w.Remove("a")
			w.Reconcile("a")

			if removed := len(w.VCluster.Writes()) > 0; removed != tc.Removes || w.Has(theDeployment()) == tc.Removes {
				t.Errorf("removed: %t", removed)
			}
		})
	}
}

// TestCreateEnds holds that a creation that was interrupted goes on where nothing may be
// updated, and that what is there already is left as it is.
func TestCreateEnds(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Policies(insidetest.Agent("a"), observe, create))...)
	w.Reconcile("a")
	w.bringUp()
	w.Reconcile("a")
	w.Take(theDeployment())
	insidetest.Change(w.T, w.VCluster, namespace(), func(ns *corev1.Namespace) { ns.Annotations = nil })
	w.VCluster.Writes()
	w.Reconcile("a")

	if diff := cmp.Diff([]string{"apply Deployment app-advisor app-advisor-srv"}, w.VCluster.Writes()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestPaused holds that who is paused is looked at only after.
func TestPaused(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
	w.arrive()

	pause := func(v string) {
		insidetest.Change(w.T, w.Kube, insidetest.Agent("a"), func(a *v1alpha1.AdvisorAgent) {
			meta.AddAnnotations(a, map[string]string{meta.AnnotationKeyReconciliationPaused: v})
			a.Spec.Replicas = ptr.To[int32](2)
		})
	}

	pause("true")

	if a := w.Reconcile("a"); a.GetCondition(xpv2.TypeSynced).Reason != xpv2.ReasonReconcilePaused || len(w.VCluster.Writes()) > 0 {
		t.Errorf("while it is paused: %+v", a.GetCondition(xpv2.TypeSynced))
	}

	pause("false")

	if w.Reconcile("a"); len(w.VCluster.Writes()) == 0 {
		t.Error("it does not go on")
	}
}

func TestPollAnnotation(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
	w.arrive()

	for d, want := range map[string]time.Duration{"2h": 2 * time.Hour, "10s": 10 * time.Second, "1s": 5 * time.Second} {
		insidetest.Change(w.T, w.Kube, insidetest.Agent("a"), func(a *v1alpha1.AdvisorAgent) { insidetest.PollEvery(a, d) })

		if got := w.Poll("a"); got < want || got > want+want/10 {
			t.Errorf("%s: it is looked at after %s, want %s", d, got, want)
		}
	}
}
