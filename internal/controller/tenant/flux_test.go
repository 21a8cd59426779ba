// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

const (
	fluxNamespace = "inner create Namespace flux-system"
	fluxInstall   = "helm install flux"
	fluxUpgrade   = "helm upgrade flux"
	fluxUnlock    = "helm unlock flux"
)

func TestWantFlux(t *testing.T) {
	t.Parallel()

	version := func(b tenantBuilder, v string) tenantBuilder {
		b.Spec.Flux.ChartVersion = ptr.To(v)
		return b
	}

	unset := alice()
	unset.Spec.Flux = nil

	cases := map[string]struct {
		reason   string
		tenant   tenantBuilder
		defaults defaults
		wanted   bool
		chart    string
		path     []string
		value    any
		errs     string
	}{
		"Off":         {reason: "it is turned off", tenant: alice(), defaults: defaults{fluxChartVersion: "2.18.3"}},
		"Default":     {reason: "it is on by default, in the default version", tenant: unset, defaults: defaults{fluxChartVersion: "2.18.3"}, wanted: true, chart: "2.18.3"},
		"Own":         {reason: "the Tenant's own version wins", tenant: version(alice().WithFlux(""), "2.17.0"), defaults: defaults{fluxChartVersion: "2.18.3"}, wanted: true, chart: "2.17.0"},
		"OwnV":        {reason: "a chart's version has no v", tenant: version(alice().WithFlux(""), "v2.17.0"), wanted: true, chart: "2.17.0"},
		"DefaultV":    {reason: "neither has a default one", tenant: alice().WithFlux(""), defaults: defaults{fluxChartVersion: "v2.18.3"}, wanted: true, chart: "2.18.3"},
		"Overrides":   {reason: "overrides win", tenant: alice().WithFlux(`{"helmController": {"create": false}}`), wanted: true, path: []string{"helmController", "create"}, value: false},
		"Others":      {reason: "what is not overridden stays", tenant: alice().WithFlux(`{"helmController": {"create": false}}`), wanted: true, path: []string{"sourceController", "create"}, value: true},
		"Registry":    {reason: "the images come from the configuration's registry", tenant: alice().WithFlux(""), defaults: defaults{HostDefaults: v1alpha1.HostDefaults{ImageRegistry: "r.example.org/m"}}, wanted: true, path: []string{"sourceController", "image"}, value: "r.example.org/m/fluxcd/source-controller"},
		"NoOverrides": {reason: "overrides that are no object are named", tenant: alice().WithFlux(`[1]`), wanted: true, errs: "flux.valuesOverrides"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := wantFlux(tc.tenant.Obj(), tc.defaults)
			if f.wanted != tc.wanted || f.desired.chartVersion != tc.chart {
				t.Errorf("%s: wanted %t, chart %q", tc.reason, f.wanted, f.desired.chartVersion)
			}

			if (f.invalid == nil) != (tc.errs == "") || (f.invalid != nil && !strings.Contains(f.invalid.Error(), tc.errs)) {
				t.Errorf("%s: got %v", tc.reason, f.invalid)
			}

			if got := dig(f.desired.values, tc.path...); len(tc.path) > 0 && got != tc.value {
				t.Errorf("%s: %v is %v, want %v", tc.reason, tc.path, got, tc.value)
			}
		})
	}
}

func TestFluxStage(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		facts   fluxFacts
		status  corev1.ConditionStatus
		is      xpv2.ConditionReason
		says    string
		settled bool
	}{
		"Off":        {"it is not wanted", fluxFacts{}, corev1.ConditionTrue, v1alpha1.ReasonSkipped, "flux.enabled is false", true},
		"NoWayIn":    {"nobody could look yet", fluxFacts{wanted: true}, corev1.ConditionFalse, v1alpha1.ReasonWaiting, "does not answer", true},
		"Unseen":     {"the look failed, and is to be repeated", fluxFacts{wanted: true, unseen: errInjected}, corev1.ConditionFalse, v1alpha1.ReasonProgressing, errInjected.Error(), false},
		"TakenOver":  {"it is the tenant's, whatever its state", fluxFacts{wanted: true, seen: true, takenOver: "the tenant's", state: releaseFailed, invalid: errInjected}, corev1.ConditionTrue, v1alpha1.ReasonUnmanaged, "the tenant's", true},
		"Healthy":    {"all of it works", fluxFacts{wanted: true, seen: true, state: releaseInSync, healthy: true}, corev1.ConditionTrue, v1alpha1.ReasonDone, "", true},
		"Sick":       {"it is what is wanted, and does not work", fluxFacts{wanted: true, seen: true, state: releaseInSync, health: "no pods"}, corev1.ConditionFalse, v1alpha1.ReasonProgressing, "Flux: no pods", true},
		"Absent":     {"it is not there", fluxFacts{wanted: true, seen: true, state: releaseAbsent, reason: "not yet"}, corev1.ConditionFalse, v1alpha1.ReasonProgressing, "Flux: not yet", false},
		"Locked":     {"somebody is at work", fluxFacts{wanted: true, seen: true, state: releaseLocked, reason: "pending"}, corev1.ConditionFalse, v1alpha1.ReasonProgressing, "Flux: pending", true},
		"Updating":   {"a change of what works waits", fluxFacts{wanted: true, seen: true, state: releaseLocked, healthy: true, reason: "pending"}, corev1.ConditionTrue, v1alpha1.ReasonPendingChange, "Flux: pending", true},
		"Stale":      {"an install was given up", fluxFacts{wanted: true, seen: true, state: releaseStale, reason: "stale"}, corev1.ConditionFalse, v1alpha1.ReasonProgressing, "Flux: stale", false},
		"OutOfSync":  {"a change of what works is to be made", fluxFacts{wanted: true, seen: true, state: releaseOutOfSync, healthy: true, reason: "values"}, corev1.ConditionTrue, v1alpha1.ReasonPendingChange, "Flux: values", false},
		"SickChange": {"a change of what does not work", fluxFacts{wanted: true, seen: true, state: releaseOutOfSync, reason: "values"}, corev1.ConditionFalse, v1alpha1.ReasonProgressing, "Flux: values", false},
		"Failed":     {"it failed", fluxFacts{wanted: true, seen: true, state: releaseFailed, reason: "no"}, corev1.ConditionFalse, v1alpha1.ReasonFailed, "Flux: no", false},
		"FailedLate": {"a change of what works failed", fluxFacts{wanted: true, seen: true, state: releaseFailed, healthy: true, reason: "no"}, corev1.ConditionTrue, v1alpha1.ReasonPendingChange, "Flux: no", false},
		"Invalid":    {"the spec is no release", fluxFacts{wanted: true, seen: true, state: releaseInvalid, reason: "field"}, corev1.ConditionFalse, v1alpha1.ReasonFailed, "Flux: field", false},
		"Drifted":    {"a part is gone: healthy is what the rest is", fluxFacts{wanted: true, seen: true, state: releaseDrifted, healthy: true, reason: "gone"}, corev1.ConditionFalse, v1alpha1.ReasonProgressing, "Flux: gone", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tc.facts.may = everything

			c := tc.facts.stage()
			if c.Type != v1alpha1.TypeFluxReady || c.Status != tc.status || c.Reason != tc.is || !strings.Contains(c.Message, tc.says) {
				t.Errorf("%s: %s is %s, %s: %s", tc.reason, c.Type, c.Status, c.Reason, c.Message)
			}

			if got := tc.facts.settled(); got != tc.settled {
				t.Errorf("%s: settled is %t, want %t", tc.reason, got, tc.settled)
			}
		})
	}
}

// TestFromFluxToReady follows Flux from nothing to Ready: it is installed in the
// pass that publishes the kubeconfig, and is followed until it works.
func TestFromFluxToReady(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().WithFlux("").Obj()
	w.idleFlux = true

	w.mustPass(tn)

	if c := tn.GetCondition(v1alpha1.TypeFluxReady); c.Reason != v1alpha1.ReasonWaiting || w.flux.release != nil {
		t.Errorf("before there is a way in: %s: %s", c.Reason, c.Message)
	}

	w.bringUp(tn)

	steps := []struct {
		reason   string
		happen   func()
		phase    v1alpha1.TenantPhase
		says     string
		writes   []string
		followed bool
	}{
		{
			"it is installed with what else is inside", func() {}, v1alpha1.PhaseInstallingFlux,
			"Flux: Deployment flux-system/kustomize-controller (image flux/kustomize-controller:v1): 0 of 1 replicas",
			[]string{"kube create Secret " + publishedName, "kube create TenantQuota alice-default", fluxNamespace, fluxInstall}, true,
		},
		{
			"a pod says why", func() { w.addInside(podOf("kustomize-controller", "ImagePullBackOff", "no such image")) },
			v1alpha1.PhaseInstallingFlux, "ImagePullBackOff: no such image", nil, true,
		},
		{
			"one of two is up", func() {
				changeStatus(w, w.inner, flux.Namespace, "kustomize-controller", func(d *appsv1.Deployment) {
					d.Status = fluxController("kustomize-controller").Ready().Status
				})
			}, v1alpha1.PhaseInstallingFlux, "Deployment flux-system/source-controller (image flux/source-controller:v1)", nil, true,
		},
		{
			"a kind is not served yet", func() {
				changeStatus(w, w.inner, flux.Namespace, "source-controller", func(d *appsv1.Deployment) {
					d.Status = fluxController("source-controller").Ready().Status
				})
			}, v1alpha1.PhaseInstallingFlux, "not established: CustomResourceDefinition " + fluxCRD, nil, true,
		},
		{"all of it works", w.fluxComesUp, v1alpha1.PhaseReady, "vCluster and Flux ready", nil, false},
		{"nothing is left to do", func() {}, v1alpha1.PhaseReady, "vCluster and Flux ready", nil, false},
	}
	for _, s := range steps {
		s.happen()
		w.journal.clear()
		w.mustPass(tn)

		if tn.Status.Phase != s.phase || !strings.Contains(tn.Status.Message, s.says) {
			t.Errorf("%s: %s: %s", s.reason, tn.Status.Phase, tn.Status.Message)
		}

		if diff := cmp.Diff(s.writes, w.journal.take()); diff != "" || w.followed != s.followed {
			t.Errorf("%s: followed %t, -want, +got:\n%s", s.reason, w.followed, diff)
		}
	}
}

// podOf is a pod of a controller of Flux that waits.
func podOf(name, reason, message string) *corev1.Pod {
	p := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
		Name: "manager", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
	}}}}
	p.SetNamespace(flux.Namespace)
	p.SetName(name + "-0")
	p.SetLabels(map[string]string{"app": name})

	return p
}

// TestActOnFlux holds what is done in each state of Flux of a Tenant that was
// Ready.
func TestActOnFlux(t *testing.T) {
	t.Parallel()

	status := func(s helm.Status) func(*world, tenantBuilder) {
		return func(w *world, _ tenantBuilder) { w.flux.release.Status = s }
	}
	theirs := func(fn func(*appsv1.Deployment)) func(*world, tenantBuilder) {
		return func(w *world, b tenantBuilder) {
			b.WithFlux(`{"another": "value"}`)
			w.flux.release.Status = helm.StatusFailed
			change(w, w.inner, flux.Namespace, "source-controller", fn)
		}
	}

	write := []string{fluxNamespace, fluxUpgrade}
	lost := event.Reason(v1alpha1.PhaseInstallingFlux)

	cases := map[string]struct {
		reason string
		change func(*world, tenantBuilder)
		later  time.Duration
		writes []string
		events []event.Reason
		ready  string
	}{
		"InSync":  {reason: "nothing to do", change: func(*world, tenantBuilder) {}, ready: "vCluster and Flux ready"},
		"Locked":  {reason: "a young pending revision is left alone", change: status(helm.StatusPendingUpgrade), later: 89 * time.Second, ready: "a change waits: Flux: revision 1"},
		"Stale":   {reason: "a stale one is unlocked and upgraded", change: status(helm.StatusPendingUpgrade), later: time.Hour, writes: []string{fluxNamespace, fluxUnlock, fluxUpgrade}, events: []event.Reason{reasonUnlocked}, ready: "vCluster and Flux ready"},
		"Failed":  {reason: "a failed one is upgraded", change: status(helm.StatusFailed), writes: write, ready: "vCluster and Flux ready"},
		"Gone":    {reason: "a release that is gone is installed", change: func(w *world, _ tenantBuilder) { w.flux.release = nil }, writes: []string{fluxNamespace, fluxInstall}, ready: "vCluster and Flux ready"},
		"Values":  {reason: "changed values are upgraded", change: func(_ *world, b tenantBuilder) { b.WithFlux(`{"a": 1}`) }, writes: write, ready: "vCluster and Flux ready"},
		"Version": {reason: "so is another chart", change: func(_ *world, b tenantBuilder) { b.Spec.Flux.ChartVersion = ptr.To("2.18.4") }, writes: write, ready: "vCluster and Flux ready"},
		"NoDeployment": {
			reason: "a Deployment that is gone comes back, with one event",
			change: func(w *world, _ tenantBuilder) {
				w.remove(w.inner, read[*appsv1.Deployment](w, w.inner, flux.Namespace, "source-controller"))
			},
			writes: write, events: []event.Reason{reasonRepaired}, ready: "vCluster and Flux ready",
		},
		"NoCRD": {
			reason: "so does a CRD",
			change: func(w *world, _ tenantBuilder) { w.remove(w.inner, fluxDefinition(true)) },
			writes: write, events: []event.Reason{reasonRepaired}, ready: "vCluster and Flux ready",
		},
		"Sick": {
			reason: "what does not work is waited for",
			change: func(w *world, _ tenantBuilder) {
				changeStatus(w, w.inner, flux.Namespace, "source-controller", func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 0 })
			},
			events: []event.Reason{lost},
		},
		"Off": {
			reason: "turned off, it is left as it is",
			change: func(w *world, b tenantBuilder) {
				b.Spec.Flux.Enabled = ptr.To(false)
				w.flux.release.Status = helm.StatusFailed
			},
			ready: "vCluster ready",
		},
		"AppliedFromGit": {
			reason: "what the tenant applies from Git is the tenant's",
			change: theirs(func(d *appsv1.Deployment) { d.Labels["kustomize.toolkit.fluxcd.io/name"] = "flux-system" }),
			ready:  "vCluster ready",
		},
		"Bootstrapped": {
			reason: "so is what Helm has not installed",
			change: theirs(func(d *appsv1.Deployment) { d.Annotations = nil }), ready: "vCluster ready",
		},
		"WrittenByOthers": {
			reason: "and a release that someone else wrote last",
			change: func(w *world, b tenantBuilder) {
				b.WithFlux(`{"another": "value"}`)
				w.flux.release.Ours = false
			},
			ready: "vCluster ready",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, b := newWorld(t), alice().WithFlux("")
			w.arrive(b.Obj())
			tc.change(w, b)
			w.clock.SetTime(epoch.Add(tc.later))

			o := w.mustPass(b.Obj())

			if diff := cmp.Diff(tc.writes, w.journal.take()); diff != "" || o.ResourceUpToDate != (len(tc.writes) == 0) {
				t.Errorf("%s: up to date %t, -want, +got:\n%s", tc.reason, o.ResourceUpToDate, diff)
			}

			if diff := cmp.Diff(tc.events, w.events.reasons()); diff != "" {
				t.Errorf("%s: events: -want, +got:\n%s", tc.reason, diff)
			}

			if ready := b.Status.Phase == v1alpha1.PhaseReady; ready != (tc.ready != "") || !strings.Contains(b.Status.Message, tc.ready) {
				t.Errorf("%s: %s: %s", tc.reason, b.Status.Phase, b.Status.Message)
			}
		})
	}
}

// TestTakenOverBeforeItWasInstalled holds that a tenant whose Flux came first
// keeps it.
func TestTakenOverBeforeItWasInstalled(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().WithFlux("").Obj()
	theirs := fluxController("source-controller").Obj()
	theirs.Annotations = nil
	w.addInside(theirs)
	w.mustPass(tn)
	w.bringUp(tn)

	for range 3 {
		w.mustPass(tn)
	}

	if w.flux.release != nil || has[*corev1.Namespace](w, w.inner, "", flux.Namespace) || w.followed {
		t.Error("Flux was installed beside the tenant's own")
	}

	c := tn.GetCondition(v1alpha1.TypeFluxReady)
	if tn.Status.Phase != v1alpha1.PhaseReady || tn.Status.Message != "vCluster ready" || c.Reason != v1alpha1.ReasonUnmanaged || !strings.Contains(c.Message, "source-controller") {
		t.Errorf("%s: %s; %s: %s", tn.Status.Phase, tn.Status.Message, c.Reason, c.Message)
	}
}
