// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// watcher is alice as one who only looks.
func watcher() tenantBuilder { return alice().Policies(xpv2.ManagementActionObserve) }

// TestObserved holds what is said of a vCluster that is only looked at, and that
// nothing is written but the kubeconfig beside the Tenant.
func TestObserved(t *testing.T) {
	t.Parallel()

	const publishes = "kube create Secret " + publishedName

	n := namesOf(alice().Obj())
	cases := map[string]struct {
		reason string
		tenant tenantBuilder
		change func(*world)
		exists bool
		phase  v1alpha1.TenantPhase
		says   []string
		// deployed is the condition ReleaseDeployed.
		deployed xpv2.ConditionReason
		outlook  []string
		writes   []string
	}{
		"ByHand": {
			"somebody installed it", watcher(), func(*world) {}, true, v1alpha1.PhaseReady,
			[]string{"vCluster ready, only observed"}, v1alpha1.ReasonObserved,
			[]string{"these would be set", "controlPlane.distro", "sync.toHost.ingresses.enabled", "telemetry.enabled"}, []string{publishes},
		},
		"Equal": {
			"it is as the spec says", watcher(), func(w *world) { w.helm.release = releaseOf(alice().Obj()).Obj() }, true, v1alpha1.PhaseReady,
			[]string{"vCluster ready, only observed"}, v1alpha1.ReasonObserved, nil, []string{publishes},
		},
		"OtherChart": {
			"it has another chart version", watcher(), func(w *world) { w.helm.release.ChartVersion = "0.35.0" }, true, v1alpha1.PhaseReady,
			[]string{"only observed"}, v1alpha1.ReasonObserved, []string{"chart version 0.35.0 would become 0.36.1"}, []string{publishes},
		},
		"Refused": {
			"it would not survive the spec", watcher().Overrides(biggerVolume), func(*world) {}, true, v1alpha1.PhaseReady,
			[]string{"only observed"}, v1alpha1.ReasonObserved, []string{"would be refused", "persistence.volumeClaim.size"}, []string{publishes},
		},
		"Invalid": {
			"the spec is no release, and need not be", watcher().Overrides(`[]`), func(*world) {}, true, v1alpha1.PhaseReady,
			[]string{"only observed"}, v1alpha1.ReasonObserved, []string{"cannot become a release", "vcluster.valuesOverrides"}, []string{publishes},
		},
		"FailedUpgrade": {
			"it runs, whatever became of its last upgrade", watcher(), func(w *world) { w.helm.release.Status = helm.StatusFailed }, true, v1alpha1.PhaseReady,
			[]string{"only observed"}, v1alpha1.ReasonObserved, nil, []string{publishes},
		},
		"FailedInstall": {
			"it never ran", watcher(), func(w *world) {
				w.helm.release.Status, w.helm.release.Description = helm.StatusFailed, "no room"
				w.remove(w.host, controlPlane(n).Obj())
			}, true, v1alpha1.PhaseFailed, []string{"no room"}, v1alpha1.ReasonFailed, []string{"no room"}, nil,
		},
		"Installing": {
			"somebody is at it", watcher(), func(w *world) {
				w.helm.release.Status = helm.StatusPendingInstall
				w.remove(w.host, controlPlane(n).Obj())
			}, true, v1alpha1.PhaseProvisioning, []string{"pending-install"}, v1alpha1.ReasonProgressing, nil, nil,
		},
		"NotReady": {
			"its control plane is not ready", watcher(), func(w *world) {
				w.remove(w.host, controlPlane(n).Obj())
				w.add(controlPlane(n).Obj())
				w.journal.clear()
			}, true, v1alpha1.PhaseProvisioning, []string{"not ready"}, v1alpha1.ReasonObserved, nil, nil,
		},
		"NoRelease": {
			"there is a namespace and no vCluster", watcher(), func(w *world) { w.helm.release = nil }, false, v1alpha1.PhaseFailed,
			[]string{"there is no vCluster", `no Helm release "vc-alice-default"`}, v1alpha1.ReasonFailed, []string{"there is no vCluster"}, nil,
		},
		"Nothing": {
			"there is nothing", watcher(), func(w *world) { w.remove(w.host, bareNamespace(n.namespace).Obj()) }, false, v1alpha1.PhaseFailed,
			[]string{"there is no vCluster", `no namespace "vcluster-alice-default"`}, v1alpha1.ReasonFailed, nil, nil,
		},
		"Going": {
			"somebody deletes it", watcher(), func(w *world) {
				hold[*corev1.Namespace](w, n.namespace)
				w.remove(w.host, read[*corev1.Namespace](w, w.host, "", n.namespace))
			}, true, v1alpha1.PhaseFailed, []string{"someone deleted namespace"}, v1alpha1.ReasonObserved, nil, []string{publishes},
		},
		"Left": {
			"what an earlier Tenant left may be looked at when that is asked for", watcher().Adopts(n.namespace), func(w *world) {
				w.remove(w.host, bareNamespace(n.namespace).Obj())
				w.add(namespaceOf(alice().UID("uid-gone").Obj()).Obj())
				w.journal.clear()
			}, true, v1alpha1.PhaseReady, []string{"only observed"}, v1alpha1.ReasonObserved, nil, []string{publishes},
		},
		"DeleteOnly": {
			"to be allowed to delete is not to change", alice().Policies(xpv2.ManagementActionObserve, xpv2.ManagementActionDelete), func(*world) {}, true, v1alpha1.PhaseReady,
			[]string{"only observed"}, v1alpha1.ReasonObserved, nil, []string{publishes},
		},
		"NoFlux": {
			"what is not there holds nothing up", watcher().WithFlux("").Advisor("advisor:v1"), func(*world) {}, true, v1alpha1.PhaseReady,
			[]string{"vCluster ready, only observed"}, v1alpha1.ReasonObserved, nil, []string{publishes},
		},
		"Flux": {
			"what is there is named", watcher().WithFlux(""), func(w *world) {
				w.flux.release = &helm.Release{Name: "flux", Namespace: "flux-system", Revision: 1, Status: helm.StatusDeployed, Manifest: fluxManifest, ChartVersion: "2.10.0", Ours: true}
				w.makeFlux()
			}, true, v1alpha1.PhaseReady, []string{"vCluster and Flux ready, only observed"}, v1alpha1.ReasonObserved, nil, []string{publishes},
		},
		"SickFlux": {
			"and waited for", watcher().WithFlux(""), func(w *world) {
				w.idleFlux = true
				w.flux.release = &helm.Release{Name: "flux", Namespace: "flux-system", Revision: 1, Status: helm.StatusDeployed, Manifest: fluxManifest, ChartVersion: "2.10.0", Ours: true}
				w.makeFlux()
			}, true, v1alpha1.PhaseInstallingFlux, []string{"Flux"}, v1alpha1.ReasonObserved, nil, []string{publishes},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := runsByHand(t), tc.tenant.Obj()
			w.journal.clear()
			tc.change(w)

			o, err := w.external(tn).Observe(t.Context(), tn.DeepCopy())
			if err != nil || o.ResourceExists != tc.exists || !o.ResourceUpToDate {
				t.Errorf("%s: %+v, %v", tc.reason, o, err)
			}

			e := w.external(tn)
			if _, err := e.Observe(t.Context(), tn); err != nil {
				t.Fatal(err)
			}

			if tn.Status.Phase != tc.phase {
				t.Errorf("%s: %s: %s", tc.reason, tn.Status.Phase, tn.Status.Message)
			}

			for _, s := range tc.says {
				if !strings.Contains(tn.Status.Message, s) {
					t.Errorf("%s: %q does not say %q", tc.reason, tn.Status.Message, s)
				}
			}

			c := tn.GetCondition(v1alpha1.TypeReleaseDeployed)
			for _, s := range tc.outlook {
				if !strings.Contains(c.Message, s) {
					t.Errorf("%s: %q does not say %q", tc.reason, c.Message, s)
				}
			}

			if c.Reason != tc.deployed || (name == "Equal" && c.Message != "") {
				t.Errorf("%s: ReleaseDeployed is %s, %s: %q", tc.reason, c.Status, c.Reason, c.Message)
			}

			if diff := cmp.Diff(tc.writes, w.journal.take()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			if ready := tn.Status.Phase == v1alpha1.PhaseReady; ready && (tn.Status.Namespace != n.namespace || tn.Status.VClusterName != n.release ||
				tn.Status.Endpoint != "https://10.96.0.10:443" || tn.Status.ChartVersion == "" || tn.Status.KubeconfigSecret != publishedName || len(o.ConnectionDetails) != 5) {
				t.Errorf("%s: status %+v, details %d", tc.reason, tn.Status, len(o.ConnectionDetails))
			}
		})
	}
}

// TestObservedIsRefused holds what must not even be looked at: the kubeconfig of what
// is another's would be published.
func TestObservedIsRefused(t *testing.T) {
	t.Parallel()

	first := alice().Named("first").UID("uid-first").ID("first-id").Obj()
	cases := map[string]struct {
		reason string
		tenant tenantBuilder
		with   []client.Object
		says   string
	}{
		"Living":    {"it is a living Tenant's", watcher(), []client.Object{first, namespaceOf(first).Obj()}, `belongs to Tenant "kubeopera-system/first"`},
		"TakenID":   {"the id is another's, who has a namespace", watcher(), []client.Object{bareNamespace("vcluster-alice-default").Obj(), namespaceOf(bob().ID(alice().Spec.CloudSpaceID).Obj()).Obj()}, "cloudSpaceID"},
		"Newcomer":  {"the id is another's, who is older", watcher(), []client.Object{bareNamespace("vcluster-alice-default").Obj(), bob().ID(alice().Spec.CloudSpaceID).UID("uid-aaa").Obj()}, "cloudSpaceID"},
		"OtherName": {"another release is meant", func() tenantBuilder { b := watcher(); meta.SetExternalName(b, "my-vcluster"); return b }(), nil, `"my-vcluster"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			n := namesOf(alice().Obj())
			w, tn := newWorld(t, append(clonesOf(tc.with), controlPlane(n).Ready().Obj(), service(n), exported(n, kubeconfig("admin")))...), tc.tenant.Obj()
			w.helm.release = byHand(nil)

			o, err := w.external(tn).Observe(t.Context(), tn)
			if !errors.Is(err, errConflict) || !strings.Contains(err.Error(), tc.says) || len(o.ConnectionDetails) > 0 {
				t.Errorf("%s: %+v, %v", tc.reason, o, err)
			}

			if got := w.journal.take(); len(got) > 0 || tn.Status.Phase != v1alpha1.PhaseFailed {
				t.Errorf("%s: %s, wrote %v", tc.reason, tn.Status.Phase, got)
			}
		})
	}
}

func clonesOf(objs []client.Object) []client.Object {
	out := make([]client.Object, len(objs))
	for i, o := range objs {
		out[i] = o.DeepCopyObject().(client.Object)
	}

	return out
}

// TestObservedReports holds that kubeopera-api hears of what is there, and not of what
// never was.
func TestObservedReports(t *testing.T) {
	t.Parallel()

	w, tn := runsByHand(t), watcher().Obj()
	w.reports = true
	release := w.helm.release
	w.helm.release = nil

	w.mustPassLooking(tn)

	if tn.Status.Report != nil {
		t.Errorf("reported %+v of nothing", tn.Status.Report)
	}

	w.helm.release = release
	w.mustPassLooking(tn)

	if r := tn.Status.Report; r == nil || r.Status != v1alpha1.ReportActive {
		t.Errorf("reported %+v", r)
	}
}

// mustPassLooking is a pass of a Tenant that only looks, which has to succeed.
func (w *world) mustPassLooking(tn *v1alpha1.Tenant) {
	w.t.Helper()

	e := w.external(tn)
	if _, err := e.Observe(w.t.Context(), tn); err != nil {
		w.t.Fatal(err)
	}

	w.store(tn, &e.before)
}

func TestDifferences(t *testing.T) {
	t.Parallel()

	m := func(kv ...any) map[string]any {
		out := map[string]any{}
		for i := 0; i < len(kv); i += 2 {
			out[kv[i].(string)] = kv[i+1]
		}

		return out
	}

	cases := map[string]struct {
		reason     string
		have, want map[string]any
		taken, set []string
	}{
		"Same":    {"in any form", m("a", 1, "b", m("c", []string{"d"})), m("b", m("c", []any{"d"}), "a", 1.0), nil, nil},
		"Nil":     {"no values are empty ones", nil, m(), nil, nil},
		"Changed": {"a value, and only its path", m("a", m("password", "hush")), m("a", m("password", "other")), nil, []string{"a.password"}},
		"Both":    {"what only one has, sorted", m("z", 1, "b", m("x", 1)), m("a", 1, "b", m("y", 1)), []string{"b.x", "z"}, []string{"a", "b.y"}},
		"Below":   {"all that is below what only one has", m("a", m("b", m("c", 1, "d", 2))), m(), []string{"a.b.c", "a.b.d"}, nil},
		"Kind":    {"a map is no value", m("a", m("b", 1)), m("a", "b"), nil, []string{"a"}},
		"List":    {"lists are one value", m("a", []any{1, 2}), m("a", []any{2, 1}), nil, []string{"a"}},
		"Null":    {"null is not absent", m("a", nil, "b", m()), m(), []string{"a", "b"}, nil},
	}
	for name, tc := range cases {
		taken, set := differences(tc.have, tc.want)
		if diff := cmp.Diff([][]string{tc.taken, tc.set}, [][]string{taken, set}); diff != "" {
			t.Errorf("%s: %s: -want, +got:\n%s", name, tc.reason, diff)
		}
	}
}
