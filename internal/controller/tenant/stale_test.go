// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// pendingStatuses are the states in which a writer is at work, or died.
var pendingStatuses = []helm.Status{helm.StatusPendingInstall, helm.StatusPendingUpgrade, helm.StatusPendingRollback, helm.StatusUninstalling}

// pendingWorld has a Tenant whose release is in that state since the epoch: one that
// was Ready, or the first install, which has made nothing yet.
func pendingWorld(t *testing.T, status helm.Status) (*world, *v1alpha1.Tenant) {
	t.Helper()

	w, tn := newWorld(t), alice().Obj()

	if status == helm.StatusPendingInstall {
		w.helm.manifest = ""
		w.mustPass(tn)
		w.journal.clear()
		w.events.events = nil
	} else {
		w.arrive(tn)
		w.helm.release.Revision = 2
	}

	w.helm.release.Status, w.woken = status, nil

	return w, tn
}

// TestH1Stale holds that a revision whose writer died is marked failed, then upgraded,
// and told of once.
func TestH1Stale(t *testing.T) {
	t.Parallel()

	for _, status := range pendingStatuses {
		t.Run("H1: "+string(status)+", 20 minutes old", func(t *testing.T) {
			t.Parallel()

			w, tn := pendingWorld(t, status)
			before := w.helm.release.Revision

			for range 3 {
				w.clock.SetTime(w.clock.Now().Add(20 * time.Minute))
				w.mustPass(tn)
			}

			if diff := cmp.Diff([]string{unlock, upgrade}, w.doneOnHost()); diff != "" {
				t.Errorf("done: -want, +got:\n%s", diff)
			}

			if r := w.helm.release; r.Status != helm.StatusDeployed || r.Revision != before+1 {
				t.Errorf("revision %d is %s", r.Revision, r.Status)
			}

			if e := w.events.of(reasonUnlocked); w.events.count(reasonUnlocked) != 1 || !strings.Contains(e.Message, string(status)) {
				t.Errorf("%d events, the first %q", w.events.count(reasonUnlocked), e.Message)
			}
		})
	}
}

// TestH1Young holds that a revision whose writer may live is left alone, and looked at
// again as soon as it is stale.
func TestH1Young(t *testing.T) {
	t.Parallel()

	for _, status := range pendingStatuses {
		t.Run("H1: "+string(status)+", 89 seconds old", func(t *testing.T) {
			t.Parallel()

			w, tn := pendingWorld(t, status)
			w.clock.SetTime(epoch.Add(89 * time.Second))

			o := w.mustPass(tn)

			if done := w.journal.take(); len(done) > 0 || !o.ResourceUpToDate {
				t.Errorf("done: %v, up to date %t", done, o.ResourceUpToDate)
			}

			if w.helm.release.Status != status || w.events.has(reasonUnlocked, reasonFailed) {
				t.Errorf("the release is %s, events %v", w.helm.release.Status, w.events.reasons())
			}

			if diff := cmp.Diff([]time.Duration{time.Second}, w.woken); diff != "" {
				t.Errorf("looked at again after: -want, +got:\n%s", diff)
			}
		})
	}
}

// TestH1Flux holds the same of a release inside the vCluster.
func TestH1Flux(t *testing.T) {
	t.Parallel()

	const upgradeFlux = "helm upgrade flux"

	for _, status := range pendingStatuses {
		w, tn := newWorld(t), alice().WithFlux("").Obj()
		w.arrive(tn)
		w.flux.release.Status = status
		w.woken = nil

		w.clock.SetTime(epoch.Add(89 * time.Second))
		w.mustPass(tn)

		if done := w.journal.take(); len(done) > 0 || !cmp.Equal(w.woken, []time.Duration{time.Second}) {
			t.Errorf("%s, young: done %v, looked at again after %v", status, done, w.woken)
		}

		w.clock.SetTime(epoch.Add(20 * time.Minute))
		w.mustPass(tn)

		done := strings.Join(w.doneOnHost(), ", ")
		if !strings.Contains(done, upgradeFlux) || w.flux.release.Status != helm.StatusDeployed || w.events.count(reasonUnlocked) != 1 {
			t.Errorf("%s, stale: done %s, the release is %s, %d events", status, done, w.flux.release.Status, w.events.count(reasonUnlocked))
		}
	}
}
