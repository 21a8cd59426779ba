// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler/reconcilertest"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

var aliceKey = types.NamespacedName{Namespace: tenantNamespace, Name: "alice-default"}

// reconciler is the managed reconciler on the world, with all that Setup gives it.
func (w *world) reconciler() *managed.Reconciler { return w.reconcilerBy(&worldConnector{w}) }

// reconcilerBy is the same by another connector.
func (w *world) reconcilerBy(c managed.TypedExternalConnector[*v1alpha1.Tenant]) *managed.Reconciler {
	mgr := reconciler.WithoutIdleWrites(reconcilertest.NewManager(w.kube, testScheme()))
	features := &feature.Flags{}
	features.Enable(feature.EnableBetaManagementPolicies)

	return managed.NewReconciler(mgr, resource.ManagedKind(v1alpha1.TenantGroupVersionKind),
		append(reconciler.Options(controller.Options{Features: features, PollInterval: time.Minute}),
			managed.WithTypedExternalConnector(c),
			managed.WithInitializers(initializer{kube: w.kube}),
			managed.WithFinalizer(w.finalizer(w.keep)),
			managed.WithRecorder(w.events),
		)...)
}

// worldConnector connects to the world.
type worldConnector struct{ w *world }

func (c *worldConnector) Connect(_ context.Context, t *v1alpha1.Tenant) (managed.TypedExternalClient[*v1alpha1.Tenant], error) {
	return c.w.external(t), nil
}

// reconcile once, and return the Tenant as it is stored, or nil when it is gone.
func (w *world) reconcile(r *managed.Reconciler) (*v1alpha1.Tenant, reconcile.Result) {
	w.t.Helper()

	res, err := r.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: aliceKey})
	if err != nil {
		w.t.Fatal(err)
	}

	if !has[*v1alpha1.Tenant](w, w.kube, aliceKey.Namespace, aliceKey.Name) {
		return nil, res
	}

	return read[*v1alpha1.Tenant](w, w.kube, aliceKey.Namespace, aliceKey.Name), res
}

// done on the host and by Helm since it was last asked.
func (w *world) doneOnHost() []string {
	var out []string

	for _, a := range w.journal.take() {
		if !strings.HasPrefix(a, "kube ") {
			out = append(out, a)
		}
	}

	return out
}

// checkStored holds that what is stored of a Tenant does not contradict itself.
func checkStored(t *testing.T, when string, tn *v1alpha1.Tenant) {
	t.Helper()

	c := tn.GetCondition(xpv2.TypeReady)
	want := map[v1alpha1.TenantPhase]xpv2.ConditionReason{
		v1alpha1.PhasePending: xpv2.ReasonCreating, v1alpha1.PhaseProvisioning: xpv2.ReasonCreating, v1alpha1.PhaseInstallingFlux: xpv2.ReasonCreating,
		v1alpha1.PhaseFailed: xpv2.ReasonUnavailable, v1alpha1.PhaseReady: xpv2.ReasonAvailable, v1alpha1.PhaseDeleting: xpv2.ReasonDeleting,
	}[tn.Status.Phase]

	if c.Reason != want {
		t.Errorf("%s: phase %s, but Ready is %s, %s: %q", when, tn.Status.Phase, c.Status, c.Reason, c.Message)
	}
}

// TestReconcile follows a Tenant through the managed reconciler, from its first
// pass to the last.
func TestReconcile(t *testing.T) {
	t.Parallel()

	w := newWorld(t, alice().Obj())
	r := w.reconciler()

	tn, _ := w.reconcile(r)
	checkStored(t, "after Create", tn)

	if tn.Status.Phase != v1alpha1.PhaseProvisioning || meta.GetExternalName(tn) != "vc-alice-default" || !meta.FinalizerExists(tn, managed.FinalizerName) {
		t.Errorf("after Create: %s, external name %q, finalizers %v", tn.Status.Phase, meta.GetExternalName(tn), tn.GetFinalizers())
	}

	w.bringUp(tn)

	tn, res := w.reconcile(r)
	checkStored(t, "when up", tn)

	if tn.Status.Phase != v1alpha1.PhaseReady || res.RequeueAfter < time.Minute || tn.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionTrue {
		t.Errorf("when up: %s: %s, again after %s", tn.Status.Phase, tn.Status.Message, res.RequeueAfter)
	}

	w.journal.clear()
	before := tn.Status.DeepCopy()

	for range 50 {
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
		tn, _ = w.reconcile(r)
	}

	if diff := cmp.Diff(written(t, before), written(t, &tn.Status)); diff != "" || len(w.journal.take()) > 0 {
		t.Errorf("a Ready Tenant is not left alone: %s", diff)
	}
}

// TestReconcileDeletion holds that the Tenant is there until the last of its
// things is gone.
func TestReconcileDeletion(t *testing.T) {
	t.Parallel()

	tn := alice().Obj()
	w := newWorld(t, tn.DeepCopy())
	r := w.reconciler()
	w.reconcile(r)
	w.bringUp(tn)
	w.reconcile(r)
	w.remove(w.kube, read[*v1alpha1.Tenant](w, w.kube, aliceKey.Namespace, aliceKey.Name))
	hold[*corev1.Namespace](w, "vcluster-alice-default")

	for range 3 {
		stored, _ := w.reconcile(r)
		if stored == nil {
			t.Fatal("the Tenant is gone before its namespace")
		}

		checkStored(t, "while the namespace goes", stored)

		if stored.Status.Phase != v1alpha1.PhaseDeleting {
			t.Errorf("%s: %s", stored.Status.Phase, stored.Status.Message)
		}

		// The runtime's own clock is the real one.
		if c := stored.GetCondition(xpv2.TypeReady); !c.LastTransitionTime.Time.Equal(epoch) {
			t.Errorf("each pass writes the condition Ready anew: %+v", c)
		}
	}

	letGo[*corev1.Namespace](w, "vcluster-alice-default")

	passes := 0
	for stored := tn; stored != nil; passes++ {
		if stored, _ = w.reconcile(r); passes > 5 {
			t.Fatalf("it never goes: %s", stored.Status.Message)
		}

		left := w.helm.release != nil || has[*corev1.Namespace](w, w.host, "", "vcluster-alice-default") ||
			has[*corev1.Secret](w, w.kube, tenantNamespace, publishedName)
		if stored == nil && left {
			t.Error("the Tenant is gone and something of it is left")
		}
	}
}

// TestReconcileFailedCreate holds that what Create found out is stored, with
// nothing pending, and that the next pass goes on.
func TestReconcileFailedCreate(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		fail   func(*world)
		mend   func(*world)
		says   string
	}{
		"Host": {
			"a host that forbids something", func(w *world) {
				w.refuseWrites = func(a string) error {
					if strings.HasPrefix(a, "host create LimitRange") {
						return errInjected
					}

					return nil
				}
			}, func(w *world) { w.refuseWrites = func(string) error { return nil } }, "LimitRange",
		},
		"Namespace": {
			"a host that forbids namespaces", func(w *world) {
				w.refuseWrites = func(a string) error {
					if strings.HasPrefix(a, "host ") {
						return errInjected
					}

					return nil
				}
			}, func(w *world) { w.refuseWrites = func(string) error { return nil } }, "cannot create namespace",
		},
		"Helm": {
			"a chart whose hook fails", func(w *world) { w.helm.installErr, w.helm.upgradeErr = errInjected, errInjected },
			func(w *world) { w.helm.upgradeErr = nil }, errInjected.Error(),
		},
		"Chart": {
			"a registry that is down", func(w *world) {
				w.chart = func(context.Context, string) (*helm.Chart, error) { return nil, helm.ErrRegistryUnreachable }
			}, func(w *world) { w.chart = oneChart }, helm.ErrRegistryUnreachable.Error(),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, alice().Obj())
			r := w.reconciler()
			tc.fail(w)

			// The runtime's own words about a Create that failed stand for one
			// pass; the phase and the message must be right at once.
			tn, res := w.reconcile(r)
			if tn.Status.Phase != v1alpha1.PhaseFailed || !strings.Contains(tn.Status.Message, tc.says) {
				t.Errorf("%s: stored %s: %q", tc.reason, tn.Status.Phase, tn.Status.Message)
			}

			if !res.Requeue && res.RequeueAfter == 0 { //nolint:staticcheck // It is what the runtime uses.
				t.Errorf("%s: nothing comes after the failure", tc.reason)
			}

			// A pass that comes too soon says the same and does nothing.
			w.journal.clear()

			again, _ := w.reconcile(r)
			checkStored(t, tc.reason, again)

			if got := w.doneOnHost(); len(got) > 0 || again.Status.Message != tn.Status.Message {
				t.Errorf("%s: at once again: did %v, says %q", tc.reason, got, again.Status.Message)
			}

			tn = again

			if meta.ExternalCreateIncomplete(tn) {
				t.Errorf("%s: the creation is pending: %v", tc.reason, tn.GetAnnotations())
			}

			tc.mend(w)
			w.clock.SetTime(epoch.Add(time.Hour))

			tn, _ = w.reconcile(r)
			w.bringUp(tn)

			if tn, _ = w.reconcile(r); tn.Status.Phase != v1alpha1.PhaseReady {
				t.Errorf("%s: %s: %s", tc.reason, tn.Status.Phase, tn.Status.Message)
			}
		})
	}
}

// TestReconcileMarkedCreate holds that the mark of a Create that never returned, which
// a Tenant may bring from elsewhere, stops nothing.
func TestReconcileMarkedCreate(t *testing.T) {
	t.Parallel()

	tn := alice().Obj()
	meta.SetExternalCreatePending(tn, epoch)
	meta.SetExternalName(tn, "vc-alice-default")

	w := newWorld(t, tn)
	r := w.reconciler()

	stored, _ := w.reconcile(r)
	w.bringUp(stored)

	if stored, _ = w.reconcile(r); stored.Status.Phase != v1alpha1.PhaseReady {
		t.Errorf("%s: %s, annotations %v", stored.Status.Phase, stored.Status.Message, stored.GetAnnotations())
	}
}

// TestR9KeepsItsHandsOff holds that what pauses, only observes or orphans
// writes nothing on the host.
func TestR9KeepsItsHandsOff(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(*v1alpha1.Tenant)
		delete bool
		gone   bool
	}{
		"R9: crossplane.io/paused": {"the annotation", func(tn *v1alpha1.Tenant) {
			meta.AddAnnotations(tn, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
		}, false, false},
		"R9: managementPolicies [Observe]": {"only to observe", func(tn *v1alpha1.Tenant) {
			tn.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
		}, false, false},
		"R9: without Delete": {
			"everything but to delete", func(tn *v1alpha1.Tenant) {
				tn.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate})
			}, true, true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tn := alice().Obj()
			w := newWorld(t, tn.DeepCopy())
			r := w.reconciler()
			w.reconcile(r)
			w.bringUp(tn)
			w.reconcile(r)

			change(w, w.kube, aliceKey.Namespace, aliceKey.Name, tc.change)
			// Something to mend, that must not be mended.
			change(w, w.host, "vcluster-alice-default", wallName, func(q *corev1.ResourceQuota) { q.Spec.Hard = nil })

			if tc.delete {
				w.remove(w.kube, read[*v1alpha1.Tenant](w, w.kube, aliceKey.Namespace, aliceKey.Name))
			}

			w.journal.clear()

			stored, _ := w.reconcile(r)
			if got := w.doneOnHost(); len(got) > 0 || (stored == nil) != tc.gone || !has[*corev1.Namespace](w, w.host, "", "vcluster-alice-default") {
				t.Errorf("%s: did %v, gone: %t", tc.reason, got, stored == nil)
			}
		})
	}
}
