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
	releaseDrifted   releaseState = "Drifted"   // its workload is gone
	releaseInvalid   releaseState = "Invalid"   // the spec cannot become a release
	releaseInSync    releaseState = "InSync"    // nothing to do
)

// classify a release, with the reason in words. It decides nothing else than
// which step comes next.
func classify(r *helm.Release, d desired, w workload, now time.Time) (releaseState, string) {
	switch {
	case r == nil || r.Status == helm.StatusUninstalled:
		return releaseAbsent, "the vCluster is not installed yet"
	case r.Status.Pending() && now.Sub(r.Updated) < staleAfter:
		return releaseLocked, fmt.Sprintf("revision %d of release %q is %s", r.Revision, r.Name, r.Status)
	case r.Status.Pending():
		return releaseStale, fmt.Sprintf("revision %d of release %q is %s since %s, its writer is gone",
			r.Revision, r.Name, r.Status, r.Updated.UTC().Format(time.RFC3339))
	case r.Status != helm.StatusDeployed:
		return releaseFailed, fmt.Sprintf("revision %d of release %q is %s: %s", r.Revision, r.Name, r.Status, r.Description)
	case r.ChartVersion != d.chartVersion:
		return releaseOutOfSync, fmt.Sprintf("chart version %s is to become %s", r.ChartVersion, d.chartVersion)
	case !helm.ValuesEqual(r.Values, d.values):
		return releaseOutOfSync, "the chart's values are to change"
	case !w.found:
		return releaseDrifted, fmt.Sprintf("release %q is deployed, but it has no control plane", r.Name)
	default:
		return releaseInSync, ""
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
