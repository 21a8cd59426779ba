// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

func TestMissingOf(t *testing.T) {
	t.Parallel()

	want := flux.Parts{
		Deployments: []flux.Deployment{{Namespace: flux.Namespace, Name: "kustomize-controller"}, {Namespace: flux.Namespace, Name: "source-controller"}},
		CRDs:        []flux.CRD{{Name: fluxCRD}},
	}
	both := []appsv1.Deployment{*fluxController("source-controller").Obj(), *fluxController("kustomize-controller").Obj()}

	elsewhere := fluxController("source-controller").Obj()
	elsewhere.Namespace = "default"

	cases := map[string]struct {
		reason string
		have   []appsv1.Deployment
		crds   sets.Set[string]
		want   string
	}{
		"None":       {"all of it is there", both, sets.New(fluxCRD, "more"), ""},
		"Deployment": {"a Deployment is gone", both[:1], sets.New(fluxCRD), `its Deployment "flux-system/kustomize-controller" is gone`},
		"Elsewhere":  {"one of another namespace is another", []appsv1.Deployment{both[1], *elsewhere}, sets.New(fluxCRD), `its Deployment "flux-system/source-controller" is gone`},
		"CRD":        {"a CRD is gone", both, sets.New[string](), `its CustomResourceDefinition "` + fluxCRD + `" is gone`},
	}
	for name, tc := range cases {
		if got := missingOf(want, tc.have, tc.crds); got != tc.want {
			t.Errorf("%s: %s: got %q, want %q", name, tc.reason, got, tc.want)
		}
	}
}

// TestEstablished holds that a CRD is read until Flux was ready once, and no more
// then: it is large.
func TestEstablished(t *testing.T) {
	t.Parallel()

	want := []flux.CRD{{Name: fluxCRD}, {Name: "gone"}}
	there := sets.New(fluxCRD)

	for name, tc := range map[string]struct {
		reason      string
		before      bool
		established bool
		reads       int
		want        bool
	}{
		"Not":   {"it is not served yet", false, false, 1, false},
		"Is":    {"it is served", false, true, 1, true},
		"Ready": {"Flux was ready with it", true, false, 0, true},
	} {
		w, tn := newWorld(t), alice().WithFlux("").Obj()
		w.addInside(fluxDefinition(tc.established))

		if tc.before {
			tn.SetConditions(done(v1alpha1.TypeFluxReady))
		}

		w.reads.fail(0)

		got, err := w.external(tn).established(t.Context(), w.inner, want, there)
		if err != nil || got.Has(fluxCRD) != tc.want || got.Has("gone") || w.reads.count != tc.reads {
			t.Errorf("%s: %s: %v, %v, by %d reads", name, tc.reason, got, err, w.reads.count)
		}
	}
}

// TestFluxTroubles holds that only what is Flux's and not available is asked for its
// reasons, however much of someone else's is broken beside it.
func TestFluxTroubles(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	for _, name := range []string{"up", "down"} {
		w.addInside(podOf(name, "ImagePullBackOff", "no such image"))
	}

	bare := fluxController("bare").Obj()
	bare.Spec.Selector = nil

	want := flux.Parts{Deployments: []flux.Deployment{
		{Namespace: flux.Namespace, Name: "up"}, {Namespace: flux.Namespace, Name: "down"}, {Namespace: flux.Namespace, Name: "bare"},
	}}
	got, err := fluxTroubles(t.Context(), w.inner, want, []appsv1.Deployment{
		*fluxController("up").Ready().Obj(), *fluxController("down").Obj(), *bare, *fluxController("foreign").Obj(),
	})
	if err != nil || len(got) != 1 || !strings.Contains(got["flux-system/down"], "ImagePullBackOff: no such image") {
		t.Errorf("%v, %v", got, err)
	}
}

// TestUnreadableRelease holds that a manifest which cannot be read is neither drift
// nor a reason to look no further: the next revision may be another.
func TestUnreadableRelease(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().WithFlux("").Obj()
	e := w.external(tn)

	in, err := w.open(nil)
	if err != nil {
		t.Fatal(err)
	}

	f := &fluxFacts{release: &helm.Release{Name: flux.ReleaseName, Namespace: flux.Namespace, Manifest: "{", Ours: true}}
	missing, err := e.lookAtFlux(t.Context(), in, f)
	if err != nil || missing != "" || f.healthy || !strings.Contains(f.health, "cannot read what it consists of") {
		t.Errorf("%q, %v, %q", missing, err, f.health)
	}
}
