// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// TestFluxFails holds that what fails of Flux is said, and holds back nothing else.
func TestFluxFails(t *testing.T) {
	t.Parallel()

	refuse := func(w *world) {
		w.refuseWrites = func(a string) error {
			if a == fluxNamespace {
				return errInjected
			}

			return nil
		}
	}

	cases := map[string]struct {
		reason string
		tenant tenantBuilder
		fail   func(*world)
		is     error
		says   string
		// followed says that news of Flux are waited for.
		followed bool
	}{
		"Chart": {"a chart that cannot be had", alice().WithFlux(""), func(w *world) {
			w.fluxChart = func(context.Context, string) (*helm.Chart, error) { return nil, helm.ErrRegistryUnreachable }
		}, helm.ErrRegistryUnreachable, helm.ErrRegistryUnreachable.Error(), false},
		"Namespace": {"a namespace that is refused", alice().WithFlux(""), refuse, errInjected, `cannot create namespace "flux-system" inside the vCluster`, false},
		"Install":   {"a chart that fails", alice().WithFlux(""), func(w *world) { w.flux.installErr, w.flux.upgradeErr = errInjected, errInjected }, errInjected, errInjected.Error(), true},
		"Overrides": {"overrides that are no object", alice().WithFlux(`[]`), func(*world) {}, nil, "flux.valuesOverrides", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), tc.tenant.Advisor("advisor:v1").Obj()
			tc.fail(w)
			w.mustPass(tn)
			w.bringUp(tn)

			_, err := w.pass(tn)
			if err == nil || (tc.is != nil && !errors.Is(err, tc.is)) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: got %v", tc.reason, err)
			}

			if w.followed != tc.followed {
				t.Errorf("%s: followed %t", tc.reason, w.followed)
			}

			if c := tn.GetCondition(v1alpha1.TypeFluxReady); tn.Status.Phase != v1alpha1.PhaseFailed || c.Reason != v1alpha1.ReasonFailed || !strings.Contains(tn.Status.Message, tc.says) {
				t.Errorf("%s: %s: %s, Flux %s", tc.reason, tn.Status.Phase, tn.Status.Message, c.Reason)
			}

			if !has[*corev1.Secret](w, w.kube, tenantNamespace, publishedName) || !has[*v1alpha1.TenantQuota](w, w.kube, tenantNamespace, tn.GetName()) ||
				!has[*v1alpha1.AdvisorAgent](w, w.kube, tenantNamespace, tn.GetName()) {
				t.Errorf("%s: the rest was held back", tc.reason)
			}
		})
	}
}

// TestFluxChangeFails holds that a change of Flux that cannot be made leaves the
// Tenant Ready, with the reason, and holds back no other change.
func TestFluxChangeFails(t *testing.T) {
	t.Parallel()

	w, b := newWorld(t), alice().WithFlux("").Advisor("advisor:v1")
	w.arrive(b.Obj())

	b.Spec.Flux.ChartVersion = ptr.To("2.18.9")
	b.Advisor("advisor:v2").Overrides(`{"a": 1}`)
	*b.Spec.Quota.CPU = resource.MustParse("9")
	b.SetGeneration(2)

	_, err := w.pass(b.Obj())
	if !errors.Is(err, helm.ErrChartNotFound) || b.Status.Phase != v1alpha1.PhaseReady || !strings.Contains(b.Status.Message, "2.18.9") {
		t.Errorf("%v, %s: %s", err, b.Status.Phase, b.Status.Message)
	}

	if c := b.GetCondition(v1alpha1.TypeFluxReady); c.Status != corev1.ConditionTrue || c.Reason != v1alpha1.ReasonPendingChange {
		t.Errorf("Flux is %s, %s", c.Status, c.Reason)
	}

	want := []string{resize, upgrade, requota, "kube update AdvisorAgent alice-default"}
	if diff := cmp.Diff(want, without(w.journal.take(), "host create Namespace vcluster-alice-default")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// without leaves out one action: that something is there already is found out by
// trying to create it.
func without(actions []string, one string) []string {
	var out []string

	for _, a := range actions {
		if a != one {
			out = append(out, a)
		}
	}

	return out
}

// TestFluxPausesByItself holds that Flux which keeps failing is tried with pauses
// of its own, while everything else is tried at once.
func TestFluxPausesByItself(t *testing.T) {
	t.Parallel()

	w, b := newWorld(t), alice().WithFlux("")
	w.flux.installErr, w.flux.upgradeErr, w.idleFlux = errInjected, errInjected, true
	w.mustPass(b.Obj())
	w.bringUp(b.Obj())

	for _, s := range []struct {
		at   time.Duration
		want []string
	}{
		{0, []string{fluxInstall}},
		{time.Second, nil},
		{2 * time.Second, []string{fluxUpgrade}},
		{5 * time.Second, nil},
		{6 * time.Second, []string{fluxUpgrade}},
	} {
		w.clock.SetTime(epoch.Add(s.at))
		w.journal.clear()
		b.Spec.Quota.CPU.Add(resource.MustParse("1"))

		if _, err := w.pass(b.Obj()); !errors.Is(err, errInjected) || b.Status.Phase != v1alpha1.PhaseFailed {
			t.Errorf("at %s: %v, %s: %s", s.at, err, b.Status.Phase, b.Status.Message)
		}

		var helms []string

		done := w.journal.take()
		for _, a := range done {
			if strings.HasPrefix(a, "helm ") {
				helms = append(helms, a)
			}
		}

		if diff := cmp.Diff(s.want, helms); diff != "" {
			t.Errorf("at %s: -want, +got:\n%s", s.at, diff)
		}

		if got := without(done, resize); len(got) != len(done)-1 {
			t.Errorf("at %s: the wall waits for Flux: %v", s.at, done)
		}
	}

	w.flux.upgradeErr = nil
	w.clock.SetTime(epoch.Add(time.Hour))
	w.fluxComesUp()
	w.mustPass(b.Obj())

	if b.Status.Phase != v1alpha1.PhaseReady || len(w.failures.by) > 0 {
		t.Errorf("%s: %s, remembered %v", b.Status.Phase, b.Status.Message, w.failures.by)
	}
}

// TestFluxRaces holds that what changed between the look and the act is no
// failure.
func TestFluxRaces(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().WithFlux("").Obj()
	w.arrive(tn)
	w.flux.release.Status, w.flux.unlockErr = helm.StatusPendingUpgrade, helm.ErrReleaseChanged
	w.clock.SetTime(epoch.Add(time.Hour))
	w.mustPass(tn)

	if len(w.failures.by) > 0 || w.events.has(reasonUnlocked) || tn.Status.Phase != v1alpha1.PhaseReady {
		t.Errorf("%s: %s, events %v", tn.Status.Phase, tn.Status.Message, w.events.reasons())
	}

	w.flux.unlockErr = errInjected

	if _, err := w.pass(tn); !errors.Is(err, errInjected) || !strings.Contains(err.Error(), `cannot unlock release "flux"`) || w.events.has(reasonUnlocked) {
		t.Errorf("%v, events %v", err, w.events.reasons())
	}
}

// TestFluxCannotBeSeen fails each read of Flux in turn. A Tenant that is being made
// says what it waits for, and goes on. For one that is Ready see TestUnknownIsNotAbsent.
func TestFluxCannotBeSeen(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().WithFlux("").Obj()
	w.idleFlux = true
	w.mustPass(tn)
	w.bringUp(tn)
	w.mustPass(tn)
	w.reads.fail(0)

	if _, err := w.external(tn).Observe(t.Context(), tn.DeepCopy()); err != nil {
		t.Fatal(err)
	}

	inside := 0

	for n, all := 1, w.reads.count; n <= all; n++ {
		got := tn.DeepCopy()
		e := w.external(got)
		w.reads.fail(n)

		o, err := e.Observe(t.Context(), got)
		if errors.Is(err, errInjected) {
			continue // It was a read on the host.
		}

		if w.reads.failed == readOfDNS {
			continue
		}

		inside++

		c := got.GetCondition(v1alpha1.TypeFluxReady)
		if err != nil || o.ResourceUpToDate || c.Reason != v1alpha1.ReasonProgressing || !strings.Contains(c.Message, errInjected.Error()) {
			t.Errorf("read %d, %s: %v, up to date %t, Flux %s: %s", n, w.reads.failed, err, o.ResourceUpToDate, c.Reason, c.Message)
		}

		if _, err := e.Update(t.Context(), got); !errors.Is(err, errInjected) || got.Status.Phase != v1alpha1.PhaseInstallingFlux {
			t.Errorf("read %d, %s: %v, %s: %s", n, w.reads.failed, err, got.Status.Phase, got.Status.Message)
		}

		w.failures.forget(tn, parts...)
	}

	// The release, the Deployments, the CRDs, one of them, and the pods, the Deployment
	// and the events of each of two Deployments at least.
	if inside < 8 {
		t.Errorf("only %d reads are of Flux", inside)
	}
}
