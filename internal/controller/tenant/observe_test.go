// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// TestFromPendingToReady follows one Tenant through its phases.
func TestFromPendingToReady(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	n := namesOf(tn)

	steps := []struct {
		reason string
		happen func()
		phase  v1alpha1.TenantPhase
		says   string
		writes []string
	}{
		{
			"the wall stands before Helm runs", func() {}, v1alpha1.PhaseProvisioning, "control plane",
			[]string{
				"host create Namespace vcluster-alice-default", "host create LimitRange kubeopera-tenant",
				"host create ResourceQuota kubeopera-tenant",
				"host create NetworkPolicy kubeopera-control-plane", "host create NetworkPolicy kubeopera-tenant", "helm install vc-alice-default",
			},
		},
		{"Helm's objects appear", func() { w.add(controlPlane(n).Obj()); w.add(service(n)) }, v1alpha1.PhaseProvisioning, errNotReady.Error(), nil},
		{"the control plane is ready, and has exported nothing", func() {
			w.remove(w.host, controlPlane(n).Obj())
			w.add(controlPlane(n).Ready().Obj())
		}, v1alpha1.PhaseProvisioning, "has not exported", nil},
		{
			"the export is published", func() { w.add(exported(n, kubeconfig("admin"))) }, v1alpha1.PhaseReady, "vCluster ready",
			[]string{"kube create Secret " + publishedName, "kube create TenantQuota alice-default"},
		},
		{"nothing is left to do", func() {}, v1alpha1.PhaseReady, "vCluster ready", nil},
	}

	for _, s := range steps {
		s.happen()
		w.journal.clear()
		w.clock.SetTime(w.clock.Now().Add(5 * time.Second))
		w.mustPass(tn)

		if tn.Status.Phase != s.phase || !strings.Contains(tn.Status.Message, s.says) {
			t.Errorf("%s: %s: %s", s.reason, tn.Status.Phase, tn.Status.Message)
		}

		if diff := cmp.Diff(s.writes, w.journal.take()); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", s.reason, diff)
		}
	}

	if got := tn.Status.LastSyncedAt.Time; !got.Equal(epoch.Add(20 * time.Second)) {
		t.Errorf("the last change was at %s, want that of the publication", got)
	}
}

// TestReadyIsLeftAlone holds that the pass of a Ready, unchanged Tenant writes
// nothing and asks Helm for nothing but its releases.
func TestReadyIsLeftAlone(t *testing.T) {
	t.Parallel()

	for name, tn := range map[string]*v1alpha1.Tenant{
		"Bare": alice().Obj(), "Whole": alice().WithFlux("").Advisor("advisor:v1").Obj(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t)
			w.reports = true
			w.arrive(tn)
			w.mustPass(tn)
			w.journal.clear()
			w.chart, w.fluxChart = nil, nil // A chart that is asked for panics.

			before := tn.Status.DeepCopy()

			for range 100 {
				w.clock.SetTime(w.clock.Now().Add(time.Minute))

				if o := w.mustPass(tn); !o.ResourceExists || !o.ResourceUpToDate {
					t.Fatalf("a Ready Tenant is not up to date: %+v", o)
				}
			}

			if got := w.journal.take(); len(got) > 0 {
				t.Errorf("wrote %v", got)
			}

			if diff := cmp.Diff(written(t, before), written(t, &tn.Status)); diff != "" {
				t.Errorf("the status changed: -before, +after:\n%s", diff)
			}

			if len(w.events.events) > 0 {
				t.Errorf("events: %v", w.events.events)
			}
		})
	}
}

// TestUnknownIsNotAbsent fails each read of a pass in turn. A Tenant whose
// things are there must never be said to be gone, and one that is Ready stays so.
func TestUnknownIsNotAbsent(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		prepare func(*world, *v1alpha1.Tenant)
		phase   v1alpha1.TenantPhase
		atLeast int
	}{
		"ReadyInside": {
			"nor does it change what is inside",
			func(w *world, tn *v1alpha1.Tenant) {
				tn.Spec.Flux, tn.Spec.Advisor = alice().WithFlux("").Spec.Flux, alice().Advisor("advisor:v1").Spec.Advisor
				w.arrive(tn)
				w.mustPass(tn)
			}, v1alpha1.PhaseReady, 14,
		},
		"Ready": {
			"a Ready Tenant stays Ready: not to know is no change",
			func(w *world, tn *v1alpha1.Tenant) { w.arrive(tn); w.mustPass(tn) }, v1alpha1.PhaseReady, 9,
		},
		"NotReady": {
			"a Tenant that is being made fails with the reason, and is not made anew",
			func(w *world, tn *v1alpha1.Tenant) { w.mustPass(tn); w.add(controlPlane(namesOf(tn)).Obj()) }, v1alpha1.PhaseFailed, 8,
		},
		"NoWorkload": {
			"without a workload the API server is asked as well",
			func(w *world, tn *v1alpha1.Tenant) { w.mustPass(tn) }, v1alpha1.PhaseFailed, 8,
		},
		"Missing": {
			"while the API does not answer the objects of the release are asked for",
			func(w *world, tn *v1alpha1.Tenant) {
				w.mustPass(tn)
				w.add(controlPlane(namesOf(tn)).Obj())
				w.add(service(namesOf(tn)))
				w.clock.SetTime(epoch.Add(time.Hour))
			}, v1alpha1.PhaseFailed, 11,
		},
		"Nothing": {"even where nothing is there yet", func(*world, *v1alpha1.Tenant) {}, v1alpha1.PhaseFailed, 4},
		"Deleting": {
			"a Tenant that goes stays, with the reason", func(w *world, tn *v1alpha1.Tenant) {
				w.arrive(tn)
				tn.SetDeletionTimestamp(&metav1.Time{Time: epoch})
			}, v1alpha1.PhaseDeleting, 9,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().Obj()
			tc.prepare(w, tn)
			w.journal.clear()
			w.reads.fail(0)

			if _, err := w.external(tn).Observe(t.Context(), tn.DeepCopy()); err != nil {
				t.Fatal(err)
			}

			all := w.reads.count
			if all < tc.atLeast {
				t.Fatalf("%s: only %d reads, want %d at least", tc.reason, all, tc.atLeast)
			}

			inside := false // Flux is looked at last.

			for n := 1; n <= all; n++ {
				w.reads.fail(n)

				got := tn.DeepCopy()

				o, err := w.external(got).Observe(t.Context(), got)
				if w.reads.failed == readOfDNS {
					checkUnseenDNS(t, tc.reason, got, tc.phase, o, err)
					continue
				}

				if inside = inside || w.reads.failed == "helm get flux"; inside {
					// It holds nothing else back, and the next step says why.
					if c := got.GetCondition(v1alpha1.TypeFluxReady); err != nil || o.ResourceUpToDate || got.Status.Phase != tc.phase ||
						!strings.Contains(c.Message, errInjected.Error()) {
						t.Errorf("%s: failed read %d, %s: %s, %q, error %v", tc.reason, n, w.reads.failed, got.Status.Phase, c.Message, err)
					}

					continue
				}

				if !errors.Is(err, errInjected) {
					t.Errorf("%s: failed read %d, %s, was taken for %t, error %v", tc.reason, n, w.reads.failed, o.ResourceUpToDate, err)
					continue
				}

				if o.ResourceExists || o.ResourceUpToDate || o.ConnectionDetails != nil {
					t.Errorf("%s: read %d, %s: an observation comes with the error: %+v", tc.reason, n, w.reads.failed, o)
				}

				if got.Status.Phase != tc.phase {
					t.Errorf("%s: read %d, %s: phase %s, want %s", tc.reason, n, w.reads.failed, got.Status.Phase, tc.phase)
				}

				if !strings.Contains(got.Status.Message, errInjected.Error()) {
					t.Errorf("%s: read %d, %s: message %q does not say why", tc.reason, n, w.reads.failed, got.Status.Message)
				}

				for _, ct := range stageTypes {
					if before, after := tn.GetCondition(ct), got.GetCondition(ct); tc.phase != v1alpha1.PhaseDeleting && !before.Equal(after) {
						t.Errorf("%s: read %d: which stage failed cannot be told, but %s became %s, %s", tc.reason, n, ct, after.Status, after.Reason)
					}
				}
			}

			if got := w.journal.take(); len(got) > 0 {
				t.Errorf("%s: wrote %v", tc.reason, got)
			}
		})
	}
}

// TestForeignNamespace holds that a namespace that is not the Tenant's is never
// touched, neither by the Tenant nor by its deletion.
func TestForeignNamespace(t *testing.T) {
	t.Parallel()

	other := namespaceOf(alice().Named("first").UID("uid-first").Obj())
	cases := map[string]struct {
		reason string
		ns     *corev1.Namespace
		owner  string
	}{
		"D8: no UID":      {"somebody made it by hand", bareNamespace("vcluster-alice-default").Obj(), "was not made by this provider"},
		"D8: another UID": {"another Tenant has it", other.Obj(), `Tenant "kubeopera-system/first"`},
		"D8: an earlier UID": {
			"an earlier Tenant of the same name has it", namespaceOf(alice().UID("uid-earlier").Obj()).Obj(), `Tenant "kubeopera-system/alice-default", which is gone; to take over`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t, tc.ns), alice().Obj()
			before := read[*corev1.Namespace](w, w.host, "", tc.ns.Name)
			w.helm.release = releaseOf(alice().Obj()).Obj()

			_, err := w.pass(tn)
			if !errors.Is(err, errConflict) || !strings.Contains(err.Error(), tc.owner) {
				t.Errorf("%s: got %v", tc.reason, err)
			}

			tn.SetDeletionTimestamp(&metav1.Time{Time: epoch})

			if o := w.mustPass(tn); o.ResourceExists {
				t.Errorf("%s: what is another's holds the deletion back: %s", tc.reason, tn.Status.Message)
			}

			after := read[*corev1.Namespace](w, w.host, "", tc.ns.Name)
			if diff := cmp.Diff(before, after); diff != "" || len(w.journal.take()) > 0 || w.helm.release == nil {
				t.Errorf("%s: their namespace or release was touched: %s", tc.reason, diff)
			}
		})
	}
}

// TestD11NamespaceDeletedByHand holds that it is waited for, without a word in each pass,
// and then rebuilt.
func TestD11NamespaceDeletedByHand(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)

	change(w, w.host, "", "vcluster-alice-default", func(ns *corev1.Namespace) { ns.Finalizers = []string{"test/hold"} })
	w.remove(w.host, read[*corev1.Namespace](w, w.host, "", "vcluster-alice-default"))

	for range 60 {
		w.clock.SetTime(w.clock.Now().Add(time.Minute))

		if o := w.mustPass(tn); !o.ResourceExists || len(w.journal.take()) > 0 || tn.Status.Phase != v1alpha1.PhaseProvisioning {
			t.Fatalf("while it goes: %+v, %s: %s", o, tn.Status.Phase, tn.Status.Message)
		}
	}

	if len(w.events.events) != 1 {
		t.Errorf("while it goes, events %v", w.events.reasons())
	}

	if !strings.Contains(tn.Status.Message, "someone deleted namespace") {
		t.Errorf("message %q", tn.Status.Message)
	}

	n := namesOf(tn)
	for _, o := range []client.Object{
		controlPlane(n).Obj(), service(n), exported(n, nil),
		read[*corev1.LimitRange](w, w.host, n.namespace, wallName), read[*corev1.ResourceQuota](w, w.host, n.namespace, wallName),
	} {
		w.remove(w.host, o)
	}

	change(w, w.host, "", n.namespace, func(ns *corev1.Namespace) { ns.Finalizers = nil })

	w.helm.release = nil

	w.arrive(tn)
}

// TestRefusedBeforeAnythingIsMade holds that what cannot become a vCluster
// leaves nothing on the host, and says why from Observe, where it is kept.
func TestRefusedBeforeAnythingIsMade(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		tenant tenantBuilder
		says   string
	}{
		"UnknownChart": {"no such version", alice().Chart("0.36.9"), "0.36.9"},
		"Unsupported":  {"an old version", alice().Chart("0.19.0"), "0.20.0 to 0.36.x"},
		"Schema":       {"a value that the schema refuses, with its path", alice().Overrides(`{"refused": true}`), "refused"},
		"NoObject":     {"overrides that are no object", alice().Overrides(`"x"`), "valuesOverrides"},
		"NotAllowed":   {"a value that no Tenant may set", alice().Overrides(synced), "sync.toHost.networkPolicies.enabled"},
		"Registry":     {"an image registry that is none", alice(), "image registry"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), tc.tenant.Obj()
			switch name {
			case "NotAllowed":
				w.defaults.AllowedValuesOverrides = nil
			case "Registry":
				w.defaults.ImageRegistry = "https://x"
			}

			for pass := range 3 {
				w.clock.SetTime(epoch.Add(time.Duration(pass) * time.Minute))

				_, err := w.external(tn).Observe(t.Context(), tn)
				if err == nil || !strings.Contains(err.Error(), tc.says) {
					t.Fatalf("%s: got %v", tc.reason, err)
				}

				if c := tn.GetCondition(xpv2.TypeReady); tn.Status.Phase != v1alpha1.PhaseFailed || tn.Status.Message != err.Error() || c.Message != err.Error() ||
					tn.GetCondition(v1alpha1.TypeReleaseDeployed).Reason != v1alpha1.ReasonFailed {
					t.Errorf("%s: %s: %q, Ready says %q, release %q", tc.reason, tn.Status.Phase, tn.Status.Message, c.Message, tn.GetCondition(v1alpha1.TypeReleaseDeployed).Reason)
				}

				if at := tn.Status.LastSyncedAt.Time; !at.Equal(epoch) {
					t.Errorf("%s: the same failure is a change at %s", tc.reason, at)
				}
			}

			if got := w.journal.take(); len(got) > 0 || has[*corev1.Namespace](w, w.host, "", "vcluster-alice-default") {
				t.Errorf("%s: made %v", tc.reason, got)
			}
		})
	}
}
