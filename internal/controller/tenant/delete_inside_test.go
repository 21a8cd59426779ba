// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

const fluxUninstall = "helm uninstall flux"

// going is a Ready Tenant with all that can be inside, which is asked to go.
func going(t *testing.T) (*world, *v1alpha1.Tenant) {
	t.Helper()

	w, tn := newWorld(t), alice().WithFlux("").Advisor("advisor:v1").Obj()
	w.arrive(tn)
	tn.SetDeletionTimestamp(&metav1.Time{Time: epoch})

	return w, tn
}

// TestDeletionOfTheInside holds that what is inside goes before the vCluster, and
// that each is looked for again before the release goes.
func TestDeletionOfTheInside(t *testing.T) {
	t.Parallel()

	w, tn := going(t)
	change(w, w.kube, tenantNamespace, "alice-default", func(a *v1alpha1.AdvisorAgent) { a.Finalizers = []string{"test/hold"} })
	change(w, w.kube, tenantNamespace, "alice-default", func(q *v1alpha1.TenantQuota) { q.Finalizers = []string{"test/hold"} })

	w.flux.stuck = true

	for _, s := range []struct {
		reason string
		happen func()
		writes []string
		says   string
	}{
		{
			"the children are asked first, then Flux", func() {}, []string{deleteAgent, deleteQuota, fluxUninstall},
			`waiting for AdvisorAgent alice-default, finalizer test/hold; TenantQuota alice-default, finalizer test/hold; release "flux" inside the vCluster`,
		},
		{"a Flux that is still there is asked again", func() { w.flux.stuck = false }, []string{fluxUninstall}, `release "flux"`},
		{"what is left is waited for", func() {}, nil, "waiting for AdvisorAgent alice-default, finalizer test/hold; TenantQuota alice-default, finalizer test/hold"},
		{"each of it", func() {
			change(w, w.kube, tenantNamespace, "alice-default", func(a *v1alpha1.AdvisorAgent) { a.Finalizers = nil })
		}, nil, "waiting for TenantQuota alice-default, finalizer test/hold"},
		{"then the release", func() {
			change(w, w.kube, tenantNamespace, "alice-default", func(q *v1alpha1.TenantQuota) { q.Finalizers = nil })
		}, []string{uninstall, deleteNamespace}, "release"},
	} {
		s.happen()
		w.journal.clear()

		if o := w.mustPass(tn); !o.ResourceExists || tn.Status.Phase != v1alpha1.PhaseDeleting || !strings.Contains(tn.Status.Message, s.says) {
			t.Errorf("%s: exists %t: %s", s.reason, o.ResourceExists, tn.Status.Message)
		}

		if diff := cmp.Diff(s.writes, w.journal.take()); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", s.reason, diff)
		}
	}

	if w.events.has(reasonSkipped) {
		t.Errorf("something was skipped: %v", w.events.events)
	}
}

// TestDeletionSkipsTheInside holds that what cannot be removed is waited for only
// so long, and that one event lists it then.
func TestDeletionSkipsTheInside(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		prepare func(*world)
		waits   string
		skipped []string
		keeps   []string
	}{
		"D5: dead API": {
			"the tenant's API is dead", func(w *world) {
				w.probe = func(context.Context, *rest.Config) error { return errInjected }
			},
			"Flux and whatever else is inside the vCluster, which cannot be reached: the tenant's API at https://10.96.0.10:443 cannot be used: injected failure",
			[]string{"Flux and whatever else is inside the vCluster, which cannot be reached"}, nil,
		},
		"HeldChild": {
			"a child does not go", func(w *world) {
				change(w, w.kube, tenantNamespace, "alice-default", func(a *v1alpha1.AdvisorAgent) { a.Finalizers = []string{"test/hold"} })
			},
			"AdvisorAgent alice-default, finalizer test/hold", []string{"AdvisorAgent alice-default, finalizer test/hold"}, []string{"AdvisorAgent"},
		},
		"StuckFlux": {
			"Flux does not go", func(w *world) { w.flux.stuck = true },
			`release "flux" inside the vCluster`, []string{`release "flux" inside the vCluster`}, nil,
		},
		"NoExport": {
			"what opens the API is gone", func(w *world) {
				w.remove(w.host, service(namesOf(alice().Obj())))
			}, "Flux and whatever else is inside the vCluster, which cannot be reached", []string{"whatever else is inside the vCluster"}, nil,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := going(t)
			tc.prepare(w)

			for _, at := range []time.Duration{0, time.Second, inside.TenantBudget - time.Nanosecond} {
				w.clock.SetTime(epoch.Add(at))
				w.mustPass(tn)

				if got := w.woken[len(w.woken)-1]; got != inside.TenantBudget-at {
					t.Errorf("%s: at %s: looked at again after %s", tc.reason, at, got)
				}

				if !strings.Contains(tn.Status.Message, tc.waits) || w.helm.release == nil || w.events.has(reasonSkipped) {
					t.Errorf("%s: at %s: %s, events %v", tc.reason, at, tn.Status.Message, w.events.reasons())
				}
			}

			w.clock.SetTime(epoch.Add(inside.TenantBudget))
			w.helm.uninstallErr = errInjected

			for range 3 {
				if _, err := w.pass(tn); !errors.Is(err, errInjected) {
					t.Errorf("%s: %v", tc.reason, err)
				}
			}

			w.helm.uninstallErr = nil
			w.journal.clear()
			w.mustPass(tn)

			if diff := cmp.Diff([]string{uninstall, deleteNamespace}, w.journal.take()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			for o := w.mustPass(tn); o.ResourceExists; o = w.mustPass(tn) {
				if w.events.count(reasonSkipped) > 1 {
					t.Fatalf("%s: told again and again", tc.reason)
				}
			}

			e := w.events.of(reasonSkipped)
			for _, want := range append(tc.skipped, "20s") {
				if w.events.count(reasonSkipped) != 1 || e.Type != event.TypeWarning || !strings.Contains(e.Message, want) {
					t.Errorf("%s: %d events, the first is %+v", tc.reason, w.events.count(reasonSkipped), e)
				}
			}
		})
	}
}

// TestDeletionLeavesFluxAlone holds when no Flux is looked for, let alone removed:
// its API would be asked for nothing.
func TestDeletionLeavesFluxAlone(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(*world, *v1alpha1.Tenant)
	}{
		"NeverPublished": {"the vCluster never had a kubeconfig", func(w *world, _ *v1alpha1.Tenant) {
			w.remove(w.kube, read[*corev1.Secret](w, w.kube, tenantNamespace, publishedName))
		}},
		"Off":       {"it is not wanted", func(_ *world, tn *v1alpha1.Tenant) { tn.Spec.Flux.Enabled = ptr.To(false) }},
		"TakenOver": {"it is the tenant's", func(w *world, _ *v1alpha1.Tenant) { w.flux.release.Ours = false }},
		"NoRelease": {"the vCluster is gone", func(w *world, _ *v1alpha1.Tenant) { w.helm.release = nil }},
		"Going": {"the vCluster's namespace goes", func(w *world, _ *v1alpha1.Tenant) {
			hold[*corev1.Namespace](w, "vcluster-alice-default")
			w.remove(w.host, read[*corev1.Namespace](w, w.host, "", "vcluster-alice-default"))
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := going(t)
			tc.change(w, tn)
			w.journal.clear()

			for range 4 {
				w.mustPass(tn)
			}

			if got := w.journal.take(); len(without(got, fluxUninstall)) != len(got) || w.flux.release == nil {
				t.Errorf("%s: did %v", tc.reason, got)
			}

			if w.helm.release != nil || w.events.has(reasonSkipped) {
				t.Errorf("%s: it holds the deletion back: %s, events %v", tc.reason, tn.Status.Message, w.events.reasons())
			}
		})
	}
}

// TestDeletionOfFluxFails holds that what Helm says is told, and that the release
// of the vCluster waits for it within the budget.
func TestDeletionOfFluxFails(t *testing.T) {
	t.Parallel()

	w, tn := going(t)
	w.flux.uninstallErr = errInjected

	if _, err := w.pass(tn); !errors.Is(err, errInjected) || !strings.Contains(tn.Status.Message, `cannot uninstall release "flux" inside the vCluster`) || w.helm.release == nil {
		t.Errorf("%v: %s", err, tn.Status.Message)
	}
}

// TestDeletionOfChildrenFails holds that a child which may not be deleted is told,
// and that one which is another's by now is not deleted.
func TestDeletionOfChildrenFails(t *testing.T) {
	t.Parallel()

	refuse := func(w *world, err error) {
		w.refuseWrites = func(a string) error {
			if a == deleteAgent {
				return err
			}

			return nil
		}
	}

	w, tn := going(t)
	refuse(w, errInjected)

	if _, err := w.pass(tn); !errors.Is(err, errInjected) || w.helm.release == nil {
		t.Errorf("%v: %s", err, tn.Status.Message)
	}

	refuse(w, kerrors.NewConflict(schema.GroupResource{Resource: "advisoragents"}, "alice-default", errInjected))
	w.mustPass(tn)

	if w.helm.release == nil || w.flux.release != nil {
		t.Errorf("a conflict held back Flux, or let the vCluster go: %s", tn.Status.Message)
	}
}

// TestDeletionLeavesNamesakesAlone holds that what has the Tenant's name and is
// another's is neither deleted nor waited for.
func TestDeletionLeavesNamesakesAlone(t *testing.T) {
	t.Parallel()

	w := newWorld(t, agent("alice-default", "bob"), tenantQuota("alice-default", "bob"), tenantQuota("own", "alice-default"))
	tn := alice().Obj()
	w.mustPass(tn)
	w.bringUp(tn)
	w.mustPass(tn)

	tn.SetDeletionTimestamp(&metav1.Time{Time: epoch})
	w.journal.clear()
	w.mustPass(tn)

	if got := without(w.journal.take(), uninstall); len(got) != 1 || got[0] != deleteNamespace {
		t.Errorf("did %v besides the uninstall", got)
	}

	if w.myAgent().Spec.TenantRef.Name != "bob" || w.myQuota().Spec.TenantRef.Name != "bob" {
		t.Error("they are others by now")
	}
}

// TestDeletionCannotSeeChildren holds that not to know is not to be done.
func TestDeletionCannotSeeChildren(t *testing.T) {
	t.Parallel()

	for _, what := range []string{"get AdvisorAgent alice-default", "get TenantQuota alice-default"} {
		w, tn := going(t)
		w.reads.failOn = what

		if _, err := w.pass(tn); !errors.Is(err, errInjected) || len(w.journal.take()) > 0 || tn.Status.Phase != v1alpha1.PhaseDeleting {
			t.Errorf("%s: %v, %s: %s", what, err, tn.Status.Phase, tn.Status.Message)
		}
	}
}

// TestFindFlux holds that each way in that is not there is said.
func TestFindFlux(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(*world, *external)
	}{
		"Secret": {"the published Secret cannot be read", func(w *world, _ *external) { w.reads.failOn = "get Secret " + publishedName }},
		"Export": {"the export cannot be read", func(w *world, _ *external) { w.reads.failOn = "get Secret vc-vc-alice-default" }},
		"Open": {"the kubeconfig opens nothing", func(_ *world, e *external) {
			e.open = func(*vcluster.Kubeconfig) (*wayIn, error) { return nil, errInjected }
		}},
		"Probe": {"the API does not answer", func(w *world, _ *external) {
			w.probe = func(context.Context, *rest.Config) error { return errInjected }
		}},
		"Release": {"the release cannot be read", func(w *world, _ *external) { w.reads.failOn = "helm get flux" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := going(t)
			e := w.external(tn)
			tc.change(w, e)

			if found, in, err := e.findFlux(t.Context(), tn); found || in != nil || !errors.Is(err, errInjected) {
				t.Errorf("%s: found %t, way in %v, %v", tc.reason, found, in, err)
			}
		})
	}
}

// TestReleaseWithoutANamespace holds that a namespace which appears between two
// reads is no crash.
func TestReleaseWithoutANamespace(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().WithFlux("").Deleted(epoch).Obj()
	w.helm.release = releaseOf(tn).Obj()

	if o := w.mustPass(tn); !o.ResourceExists || w.helm.release != nil {
		t.Errorf("exists %t: %s", o.ResourceExists, tn.Status.Message)
	}
}
