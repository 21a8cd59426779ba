// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"fmt"
	"time"

	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// staleAfter is the age at which a pending revision counts as abandoned. A pass
// ends after a minute, so the writer of an older one is dead.
const staleAfter = 90 * time.Second

// releaseState is how a release relates to what is wanted.
type releaseState string

const (
	releaseAbsent    releaseState = "Absent"    // there is none
	releaseLocked    releaseState = "Locked"    // a young revision is pending; its writer may live
	releaseStale     releaseState = "Stale"     // an old revision is pending; its writer is dead
	releaseFailed    releaseState = "Failed"    // the newest revision failed
	releaseOutOfSync releaseState = "OutOfSync" // chart version or values differ
	releaseDrifted   releaseState = "Drifted"   // an object of it is gone, or runs no pod
	releaseInvalid   releaseState = "Invalid"   // the spec cannot become a release
	releaseInSync    releaseState = "InSync"    // nothing to do
)

// classify a release, with the reason in words. It decides nothing else than
// which step comes next. Drift says in words what is wrong with an object of the release.
func classify(r *helm.Release, d desired, drift string, now time.Time) (releaseState, string) {
	switch {
	case r == nil || r.Status == helm.StatusUninstalled:
		return releaseAbsent, "the vCluster is not installed yet"
	case r.Status.Pending() && now.Sub(r.Updated) < staleAfter:
		return releaseLocked, fmt.Sprintf("revision %d of release %q is %s; if nobody is at work on it, it is taken up after %s",
			r.Revision, r.Name, r.Status, staleAfter)
	case r.Status.Pending():
		return releaseStale, fmt.Sprintf("revision %d of release %q is %s since %s, its writer is gone",
			r.Revision, r.Name, r.Status, r.Updated.UTC().Format(time.RFC3339))
	case r.Status != helm.StatusDeployed:
		return releaseFailed, fmt.Sprintf("revision %d of release %q is %s: %s", r.Revision, r.Name, r.Status, r.Description)
	case r.ChartVersion != d.chartVersion:
		return releaseOutOfSync, fmt.Sprintf("chart version %s is to become %s", r.ChartVersion, d.chartVersion)
	case !helm.ValuesEqual(r.Values, d.values):
		return releaseOutOfSync, "the chart's values are to change"
	case drift != "":
		return releaseDrifted, drifted(r, drift)
	default:
		return releaseInSync, ""
	}
}

func drifted(r *helm.Release, drift string) string {
	return fmt.Sprintf("release %q is deployed, but %s", r.Name, drift)
}

// classify a release at this time. A revision that may have a living writer is
// looked at again once it is stale.
func (e *external) classify(r *helm.Release, d desired, drift string) (releaseState, string) {
	now := e.clock.Now()

	state, reason := classify(r, d, drift, now)
	if state == releaseLocked {
		e.lookAgain(staleAfter - now.Sub(r.Updated))
	}

	return state, reason
}

// isUnfinished says that a release of ours was never installed to the end.
func isUnfinished(s releaseState, r *helm.Release) bool {
	switch s {
	case releaseAbsent:
		return true
	case releaseFailed, releaseStale:
		return r.Ours
	default:
		return false
	}
}

// refuse errs when the change from the release to what is wanted would break the
// vCluster or lose its data.
func refuse(r *helm.Release, d desired) error {
	return vcluster.Refused(
		vcluster.Release{ChartVersion: r.ChartVersion, Values: r.Values},
		vcluster.Release{ChartVersion: d.chartVersion, Values: d.values},
	)
}
