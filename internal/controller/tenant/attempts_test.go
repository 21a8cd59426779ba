// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/quota"
)

// errRefusedSet is what a host says that refuses a StatefulSet.
var errRefusedSet = errors.New(`admission webhook "policy.example.org" denied the request: StatefulSet "vc-alice-default" is not allowed`)

// TestH3Refused holds that a Tenant whose StatefulSet the host refuses twice is Failed
// with that text in between, and then Ready with no hand on it.
func TestH3Refused(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.helm.installErr, w.helm.upgradeErr = errRefusedSet, errRefusedSet

	for i, at := range []time.Duration{0, firstRetry} {
		w.clock.SetTime(epoch.Add(at))

		if _, err := w.pass(tn); !errors.Is(err, errRefusedSet) {
			t.Fatalf("attempt %d: got %v", i+1, err)
		}

		if tn.Status.Phase != v1alpha1.PhaseFailed || !strings.Contains(tn.Status.Message, errRefusedSet.Error()) {
			t.Errorf("attempt %d: %s: %s", i+1, tn.Status.Phase, tn.Status.Message)
		}
	}

	w.helm.upgradeErr = nil
	w.clock.SetTime(epoch.Add(3 * firstRetry))
	w.mustPass(tn)
	w.bringUp(tn)
	w.mustPass(tn)

	if tn.Status.Phase != v1alpha1.PhaseReady || w.helm.release.Revision != 3 {
		t.Errorf("accepted, but %s: %s; revision %d", tn.Status.Phase, tn.Status.Message, w.helm.release.Revision)
	}
}

// TestH3NoLimit holds that an attempt that fails is repeated without end, and at least
// every minute.
func TestH3NoLimit(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.helm.installErr, w.helm.upgradeErr = errRefusedSet, errRefusedSet

	var attempts []time.Duration

	for at := time.Duration(0); at < 10*time.Minute; at += time.Second {
		w.clock.SetTime(epoch.Add(at))

		if _, err := w.pass(tn); !errors.Is(err, errRefusedSet) {
			t.Fatalf("at %s: got %v", at, err)
		}

		for _, a := range w.journal.take() {
			if strings.HasPrefix(a, "helm ") {
				attempts = append(attempts, at)
			}
		}
	}

	// After 0, 2, 6, 14, 30 and 62 s, then each minute.
	if len(attempts) != 6+8 {
		t.Errorf("%d attempts within 10 minutes", len(attempts))
	}

	var pauses []time.Duration
	for i := range attempts[1:] {
		pauses = append(pauses, attempts[i+1]-attempts[i])
	}

	if diff := cmp.Diff([]time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute}, pauses[:7]); diff != "" {
		t.Errorf("the first pauses: -want, +got:\n%s", diff)
	}

	if last := pauses[len(pauses)-1]; last != time.Minute {
		t.Errorf("the last pause is %s", last)
	}
}

// tooMuch is a value of 1.5 MiB, in overrides of a chart.
func tooMuch() string {
	return `{"controlPlane": {"statefulSet": {"annotations": {"a": "` + strings.Repeat("x", 3<<19) + `"}}}}`
}

var tooMuchSays = regexp.MustCompile(`^cannot use vcluster.valuesOverrides .*they are 153[678] KiB of JSON, the limit is 256 KiB .*shorten valuesOverrides$`)

// TestH5TooManyValues holds that values of 1.5 MiB are refused before Helm runs.
func TestH5TooManyValues(t *testing.T) {
	t.Parallel()

	t.Run("H5: a new Tenant", func(t *testing.T) {
		t.Parallel()

		w, tn := newWorld(t), alice().Overrides(tooMuch()).Obj()
		if _, err := w.pass(tn); !errors.Is(err, helm.ErrValuesRefused) || tn.Status.Phase != v1alpha1.PhaseFailed || !tooMuchSays.MatchString(tn.Status.Message) {
			t.Errorf("got %v, %s: %s", err, tn.Status.Phase, tn.Status.Message)
		}

		if done := w.doneOnHost(); len(done) > 0 {
			t.Errorf("done: %v", done)
		}
	})

	t.Run("H5: a Ready Tenant", func(t *testing.T) {
		t.Parallel()

		w, b := newWorld(t), alice()
		w.arrive(b.Obj())
		running := *w.helm.release
		b.Overrides(tooMuch())

		_, err := w.pass(b.Obj())
		if c := b.GetCondition(v1alpha1.TypeReleaseDeployed); !errors.Is(err, helm.ErrValuesRefused) || b.Status.Phase != v1alpha1.PhaseReady || !tooMuchSays.MatchString(c.Message) {
			t.Errorf("got %v, %s: %s", err, b.Status.Phase, c.Message)
		}

		if diff := cmp.Diff(running, *w.helm.release); diff != "" || len(w.doneOnHost()) > 0 {
			t.Errorf("the release was touched: %s", diff)
		}
	})

	t.Run("H5: Flux", func(t *testing.T) {
		t.Parallel()

		w, b := newWorld(t), alice().WithFlux(tooMuch())
		w.fluxNeeds = func() (quota.Allowance, error) {
			chart, err := oneFluxChart(t.Context(), "2.18.3")
			if err != nil {
				return quota.Allowance{}, err
			}

			return flux.Footprint(chart, wantFlux(b.Obj(), w.defaults).desired.values)
		}

		w.mustPass(b.Obj())
		w.bringUp(b.Obj())

		_, err := w.pass(b.Obj())
		if c := b.GetCondition(v1alpha1.TypeFluxReady); !errors.Is(err, helm.ErrValuesRefused) || !strings.HasPrefix(c.Message, "cannot use flux.valuesOverrides: ") ||
			!strings.Contains(c.Message, "KiB of JSON, the limit is 256 KiB") {
			t.Errorf("got %v, %s: %s", err, b.Status.Phase, c.Message)
		}

		if w.flux.release != nil {
			t.Errorf("Flux was installed: %s", w.flux.release.Status)
		}
	})
}

// TestH7AnyOrder holds that values mean the same in any order, and with a number of
// either type: there is no upgrade.
func TestH7AnyOrder(t *testing.T) {
	t.Parallel()

	pairs := []string{`"b": true`, `"c": [1, 2]`, `"d": {"e": 1, "f": null}`, `"g": "x"`, `"h": 0.5`, `"i": {}`, `"j": null`}
	release := releaseOf(alice().Overrides(`{"replicas": 1, "a": {}, ` + strings.Join(pairs, ", ") + `}`).Obj()).Obj()

	for i := range 1000 {
		text := append([]string{fmt.Sprintf(`"replicas": %s`, []string{"1", "1.0"}[i%2]), `"a": {}`}, pairs...)
		rand.Shuffle(len(text), func(i, j int) { text[i], text[j] = text[j], text[i] })

		overrides := "{" + strings.Join(text, ", ") + "}"
		if state, why := classify(release, mustDesire(t, alice().Overrides(overrides)), "", epoch.Add(time.Hour)); state != releaseInSync {
			t.Fatalf("%s makes a difference: %s: %s", overrides, state, why)
		}
	}

	if state, _ := classify(release, mustDesire(t, alice().Overrides(`{"replicas": 2}`)), "", epoch.Add(time.Hour)); state != releaseOutOfSync {
		t.Errorf("other values are %s", state)
	}
}
