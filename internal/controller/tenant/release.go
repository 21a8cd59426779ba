// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// staleAfter is the age at which a pending revision counts as abandoned. A pass
// ends after a minute, so the writer of an older one is dead.
const staleAfter = 90 * time.Second

// settleTime is the age at which the objects of a release must be there. A
// younger one is only coming up.
const settleTime = 15 * time.Second

// releaseState is how a release relates to what is wanted.
type releaseState string

const (
	releaseAbsent    releaseState = "Absent"    // there is none
	releaseLocked    releaseState = "Locked"    // a young revision is pending; its writer may live
	releaseStale     releaseState = "Stale"     // an old revision is pending; its writer is dead
	releaseFailed    releaseState = "Failed"    // the newest revision failed
	releaseOutOfSync releaseState = "OutOfSync" // chart version or values differ
	releaseDrifted   releaseState = "Drifted"   // an object of it is gone
	releaseInvalid   releaseState = "Invalid"   // the spec cannot become a release
	releaseInSync    releaseState = "InSync"    // nothing to do
)

// classify a release, with the reason in words. It decides nothing else than
// which step comes next. Missing is an object of the release that is gone.
func classify(r *helm.Release, d desired, missing string, now time.Time) (releaseState, string) {
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
	case missing != "":
		return releaseDrifted, fmt.Sprintf("release %q is deployed, but %s is gone", r.Name, missing)
	default:
		return releaseInSync, ""
	}
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

// findMissing names an object of a deployed release that is not there any more.
// It asks for each, and only when the tenant's API does not answer.
func (e *external) findMissing(ctx context.Context, r *helm.Release) (string, error) {
	if r == nil || r.Status != helm.StatusDeployed || e.clock.Since(r.Updated) < settleTime {
		return "", nil
	}

	objs, err := helm.ManifestObjects(r)
	if err != nil {
		return "", err
	}

	for _, o := range objs {
		gone, err := e.isGone(ctx, o)
		if err != nil {
			return "", fmt.Errorf("cannot read %s %q of release %q on the host cluster: %w", o.GetKind(), o.GetName(), r.Name, err)
		}

		if gone {
			return fmt.Sprintf("its %s %q", o.GetKind(), o.GetName()), nil
		}
	}

	return "", nil
}

func (e *external) isGone(ctx context.Context, o *unstructured.Unstructured) (bool, error) {
	namespaced, err := e.live.IsObjectNamespaced(o)
	if meta.IsNoMatchError(err) {
		return false, nil // An upgrade could not bring back what the host does not serve.
	}

	if err != nil {
		return false, err
	}

	key := client.ObjectKeyFromObject(o)
	if namespaced && key.Namespace == "" {
		key.Namespace = e.names.namespace
	}

	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(o.GroupVersionKind())

	err = e.live.Get(ctx, key, found)

	return kerrors.IsNotFound(err), client.IgnoreNotFound(err)
}
