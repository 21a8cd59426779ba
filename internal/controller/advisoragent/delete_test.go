// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisoragent

import (
	"slices"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/advisor"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

// TestDeletion holds that it is there until a read has shown that its namespace is
// gone.
func TestDeletion(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
	w.arrive()
	w.Remove("a")

	w.Expect(w.Reconcile("a"), xpv2.ReasonDeleting, `waiting for Namespace "app-advisor" inside the vCluster`)

	want := []string{
		"delete Deployment app-advisor app-advisor-srv", "delete Service app-advisor app-advisor-srv", "delete ClusterRoleBinding app-advisor-srv",
		"delete ClusterRole app-advisor-srv", "delete ServiceAccount app-advisor app-advisor-srv", "delete Namespace app-advisor",
	}
	if diff := cmp.Diff(want, w.VCluster.Writes()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	insidetest.Change(w.T, w.VCluster, namespace(), func(ns *corev1.Namespace) {
		ns.Status.Conditions = []corev1.NamespaceCondition{{Type: corev1.NamespaceContentRemaining, Status: corev1.ConditionTrue, Message: "widgets.example.org has 1 resource instances"}}
	})

	for range 3 {
		a := w.Reconcile("a")
		if a == nil {
			t.Fatal("it is gone before its namespace")
		}

		w.Expect(a, xpv2.ReasonDeleting, "")
	}

	if got := w.VCluster.Writes(); len(got) > 0 {
		t.Errorf("it was asked for again: %v", got)
	}

	w.VCluster.EndNamespace(advisor.Namespace)

	if w.Reconcile("a") != nil {
		t.Error("nothing is left, and it is still there")
	}

	if got := w.Events.Take(inside.ReasonSkipped); len(got) > 0 {
		t.Errorf("nothing was skipped: %v", got)
	}
}

// TestDeletionFails holds that what cannot be removed or looked at is not gone.
func TestDeletionFails(t *testing.T) {
	t.Parallel()

	for action, says := range map[string]string{
		"delete ClusterRole app": `cannot delete ClusterRole "app-advisor-srv" inside the vCluster: injected failure`,
		"get ClusterRole":        `cannot read ClusterRole "app-advisor-srv" inside the vCluster: injected failure`,
	} {
		w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
		w.arrive()
		w.Remove("a")
		w.VCluster.Fail(insidetest.Failing(action))

		for range 3 {
			a := w.Reconcile("a")
			if a == nil {
				t.Fatalf("%s: it is gone", action)
			}

			w.Expect(a, xpv2.ReasonDeleting, says)
		}

		w.VCluster.Heal()
		w.Reconcile("a")
		w.VCluster.EndNamespace(advisor.Namespace)

		if w.Reconcile("a") != nil {
			t.Errorf("%s: it is still there", action)
		}
	}
}

// TestDeletionLeavesOthers holds that what is not its own is not removed.
func TestDeletionLeavesOthers(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
	w.arrive()
	insidetest.Change(w.T, w.VCluster, namespace(), func(ns *corev1.Namespace) { ns.Labels = map[string]string{"theirs": "now"} })
	w.Remove("a")
	w.Reconcile("a")

	got := w.VCluster.Writes()
	if slices.Contains(got, "delete Namespace app-advisor") || !slices.Contains(got, "delete Deployment app-advisor app-advisor-srv") {
		t.Errorf("it removed %v", got)
	}

	if w.Reconcile("a") != nil {
		t.Error("what is left is not its own, and it is still there")
	}
}

// TestDeletionWithoutAWayIn says what becomes of it when its vCluster cannot be
// reached.
func TestDeletionWithoutAWayIn(t *testing.T) {
	t.Parallel()

	everything := []string{"ClusterRoleBinding app-advisor-srv", "ClusterRole app-advisor-srv", "Namespace app-advisor"}

	cases := map[string]struct {
		reason string
		harm   func(*world)
		gone   bool
		says   string   // While it waits.
		event  []string // When it goes.
	}{
		"NoTenant": {
			"its Tenant is gone, and the vCluster with it",
			func(w *world) { w.Must(w.Kube.Delete(w.T.Context(), insidetest.Tenant())) }, true, "", append(everything, "there is no such Tenant"),
		},
		"Another": {
			"its Tenant is another than it was",
			func(w *world) {
				w.Must(w.Kube.Delete(w.T.Context(), insidetest.Tenant()))

				again := insidetest.Tenant()
				again.SetUID("uid-again")
				w.Must(w.Kube.Create(w.T.Context(), again))
			}, true, "", append(everything, "another than it was"),
		},
		"NeverOpen": {
			"its Tenant never had a kubeconfig",
			func(w *world) {
				w.Must(w.Kube.Delete(w.T.Context(), insidetest.Secret(insidetest.Tenant(), nil)))

				tn := insidetest.Tenant()
				w.Must(w.Kube.Get(w.T.Context(), client.ObjectKeyFromObject(tn), tn))
				tn.Status.KubeconfigSecret = ""
				w.Must(w.Kube.Status().Update(w.T.Context(), tn))
			}, true, "", nil,
		},
		"Lost": {
			"its Tenant has lost its kubeconfig for now",
			func(w *world) { w.Must(w.Kube.Delete(w.T.Context(), insidetest.Secret(insidetest.Tenant(), nil))) }, false, "there is no kubeconfig yet", nil,
		},
		"Unreachable": {
			"its Tenant lives and its API does not answer",
			func(w *world) {
				tn := insidetest.Tenant()
				w.Must(w.Kube.Get(w.T.Context(), client.ObjectKeyFromObject(tn), tn))
				tn.SetConditions(xpv2.Condition{Type: v1alpha1.TypeAPIReachable, Status: corev1.ConditionFalse})
				w.Must(w.Kube.Status().Update(w.T.Context(), tn))
			}, false, "the tenant's API cannot be reached: see the condition APIReachable", nil,
		},
		"Silent": {"or nobody knows yet that it does not", func(w *world) { w.VCluster.Fail(insidetest.Failing("get")) }, false, "injected failure", nil},
		"NeverBound": {
			"it never was inside of anything",
			func(w *world) {
				w.Must(w.Kube.Delete(w.T.Context(), insidetest.Tenant()))
				insidetest.Change(w.T, w.Kube, insidetest.Agent("a"), func(a *v1alpha1.AdvisorAgent) { a.SetLabels(nil) })
			}, true, "", nil,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
			w.arrive()
			w.Remove("a")
			tc.harm(w)
			w.Clock.SetTime(insidetest.Epoch.Add(24 * time.Hour))

			a := w.Reconcile("a")
			if (a == nil) != tc.gone {
				t.Fatalf("%s: gone: %t", tc.reason, a == nil)
			}

			if a != nil {
				w.Expect(a, xpv2.ReasonDeleting, tc.says)
			}

			got := strings.Join(w.Events.Take(inside.ReasonSkipped), "\n")
			if (got == "") != (len(tc.event) == 0) {
				t.Errorf("%s: event %q", tc.reason, got)
			}

			for _, s := range tc.event {
				if !strings.Contains(got, s) {
					t.Errorf("%s: the event does not say %q: %q", tc.reason, s, got)
				}
			}
		})
	}
}

// TestDeletionWithItsTenant holds that it tries for a while, and then goes.
func TestDeletionWithItsTenant(t *testing.T) {
	t.Parallel()

	for name, harm := range map[string]func(*world){
		"Unreachable": func(w *world) { w.VCluster.Fail(insidetest.Failing("get")) },
		"Stuck":       func(*world) {}, // The fake namespace does not end by itself.
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
			w.arrive()

			tn := insidetest.Tenant()
			insidetest.Change(w.T, w.Kube, tn, func(tn *v1alpha1.Tenant) { tn.SetFinalizers([]string{"x"}) })
			w.Must(w.Kube.Delete(t.Context(), tn))
			w.Expect(w.Reconcile("a"), xpv2.ReasonUnavailable, "the Tenant is being deleted")

			w.Remove("a")
			harm(w)

			// The fake API server takes the time of deletions from the real clock.
			a := insidetest.Agent("a")
			w.Must(w.Kube.Get(t.Context(), client.ObjectKeyFromObject(a), a))
			w.Clock.SetTime(a.GetDeletionTimestamp().Time)

			for range 10 {
				if w.Reconcile("a") == nil {
					t.Fatal("it went before its time")
				}
			}

			w.Clock.SetTime(w.Clock.Now().Add(10 * time.Second))

			if w.Reconcile("a") != nil {
				t.Fatal("it is still there")
			}

			if got := w.Events.Take(inside.ReasonSkipped); len(got) != 1 || !strings.Contains(got[0], "Namespace app-advisor") || !strings.Contains(got[0], "within 15s") {
				t.Errorf("events: %v", got)
			}
		})
	}
}
