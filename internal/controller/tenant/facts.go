// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// errUnknown says that something could not be found out. It is never taken for absence.
var errUnknown = errors.New("unknown")

// errNotReady says that the control plane has to become ready first.
var errNotReady = errors.New("the control plane is not ready yet")

// facts are what one pass found out about a Tenant that is not being deleted.
type facts struct {
	boundary boundary
	// right says that nothing of the boundary must change.
	right bool

	desired desired
	// invalid says why the spec cannot become a release.
	invalid error
	// wall is what the ResourceQuota of the host namespace should say.
	wall corev1.ResourceQuotaSpec
	// wallKept says why it stays as it is, whatever the spec says.
	wallKept error

	release  *helm.Release
	state    releaseState
	reason   string
	workload controlPlaneFacts
	access   access

	flux     fluxFacts
	children children
	// agentRight and quotaRight say that nothing of the Tenant's own must change.
	agentRight, quotaRight bool
}

// gather finds out all that there is to know. An error means that something is
// unknown or, with errConflict, that the Tenant must keep its hands off.
func (e *external) gather(ctx context.Context, t *v1alpha1.Tenant) (*facts, error) {
	f := &facts{}

	var err error
	if f.boundary, err = e.readBoundary(ctx, t); err != nil {
		return nil, err
	}

	if err := e.checkIdentity(ctx, t, f.boundary.namespace); err != nil {
		return nil, err
	}

	e.identified = true
	f.desired, f.invalid = desire(t, e.defaults)
	f.flux = wantFlux(t, e.defaults)

	if f.children, err = e.readChildren(ctx, t); err != nil {
		return nil, err
	}

	f.agentRight, f.quotaRight = e.agentRight(t, f.children), e.quotaRight(t, f.children)

	if f.boundary.namespace == nil {
		f.state, f.reason = classify(nil, f.desired, "", e.clock.Now())
	} else if err := e.gatherInstalled(ctx, t, f); err != nil {
		return nil, err
	}

	f.wall, f.wallKept = e.wantWall(ctx, t, f)
	f.right = f.invalid == nil && e.isRight(t, f.boundary, f.wall)

	return f, nil
}

// gatherInstalled finds out what is on the host and inside the vCluster.
func (e *external) gatherInstalled(ctx context.Context, t *v1alpha1.Tenant, f *facts) error {
	if err := e.gatherRelease(ctx, t, f); err != nil {
		return err
	}

	e.gatherFlux(ctx, f)

	return nil
}

// gatherRelease finds out what Helm has installed and what works of it.
func (e *external) gatherRelease(ctx context.Context, t *v1alpha1.Tenant, f *facts) error {
	r, err := e.helm.Get(ctx, e.names.release)
	if err != nil && !errors.Is(err, helm.ErrReleaseNotFound) {
		return fmt.Errorf("cannot read release %q: %w", e.names.release, err)
	}

	if err == nil {
		f.release = r
	}

	if f.workload, err = e.readWorkload(ctx); err != nil {
		return err
	}

	if f.access, err = e.readAccess(ctx, t, f.workload); err != nil {
		return err
	}

	var missing string
	if f.access.kubeconfig == nil {
		if missing, err = e.findMissing(ctx, f.release); err != nil {
			return err
		}
	}

	f.state, f.reason = classify(f.release, f.desired, missing, e.clock.Now())
	if f.invalid != nil {
		f.state, f.reason = releaseInvalid, f.invalid.Error()
	}

	return nil
}

// goingAway says that someone deleted the namespace. It is made anew once it is gone.
func (f *facts) goingAway() bool {
	return f.boundary.namespace != nil && f.boundary.namespace.GetDeletionTimestamp() != nil
}

// settled says that there is nothing to do but to wait.
func (f *facts) settled() bool {
	if f.goingAway() {
		return true
	}

	return f.hostSettled() && !f.mustPublish() && f.insideSettled()
}

// hostSettled says so of the boundary and the vCluster's release.
func (f *facts) hostSettled() bool {
	return f.right && (f.state == releaseInSync || f.state == releaseLocked)
}

// insideSettled says so of what runs inside the vCluster, into which there may be
// no way yet.
func (f *facts) insideSettled() bool {
	return f.access.kubeconfig == nil || (f.flux.settled() && f.agentRight && f.quotaRight)
}

func (f *facts) mustPublish() bool {
	return f.access.kubeconfig != nil && !f.access.published
}

// stages turns facts into conditions, in the order of the stages.
func (f *facts) stages() []xpv2.Condition {
	return []xpv2.Condition{
		f.boundaryStage(), f.releaseStage(), f.apiStage(), f.kubeconfigStage(),
		f.flux.stage(), f.quotaStage(), f.advisorStage(),
	}
}

func (f *facts) boundaryStage() xpv2.Condition {
	ct := v1alpha1.TypeBoundaryReady

	switch ns := f.boundary.namespace; {
	case ns == nil:
		return notDone(ct, v1alpha1.ReasonWaiting, "the host namespace does not exist yet")
	case f.goingAway():
		return notDone(ct, v1alpha1.ReasonProgressing,
			fmt.Sprintf("someone deleted namespace %q on the host cluster; it is made anew once it is gone", ns.GetName()))
	case f.boundary.quota == nil || f.boundary.limits == nil:
		return notDone(ct, v1alpha1.ReasonProgressing, "the quota of the host namespace is not complete yet")
	case f.wallKept != nil:
		return pendingChange(ct, "the quota of the host namespace stays as it is: "+f.wallKept.Error())
	case !f.right && f.invalid == nil:
		return pendingChange(ct, "the quota of the host namespace is to change")
	default:
		return done(ct)
	}
}

func (f *facts) releaseStage() xpv2.Condition {
	ct := v1alpha1.TypeReleaseDeployed

	switch f.state {
	case releaseInSync:
		return done(ct)
	case releaseOutOfSync:
		return pendingChange(ct, f.reason)
	case releaseInvalid, releaseFailed:
		// What runs goes on to run, whatever became of its change.
		if f.workload.ready {
			return pendingChange(ct, f.reason)
		}

		return notDone(ct, v1alpha1.ReasonFailed, f.reason)
	case releaseAbsent:
		return notDone(ct, v1alpha1.ReasonWaiting, f.reason)
	case releaseLocked, releaseStale:
		// An upgrade that was left half-way; the first install says nothing of
		// what else it has made.
		if f.workload.ready && f.release.Revision > 1 {
			return pendingChange(ct, f.reason)
		}

		return notDone(ct, v1alpha1.ReasonProgressing, f.reason)
	case releaseDrifted:
		return notDone(ct, v1alpha1.ReasonProgressing, f.reason)
	default:
		return notDone(ct, v1alpha1.ReasonFailed, fmt.Sprintf("release state %q is not known", f.state))
	}
}

func (f *facts) apiStage() xpv2.Condition {
	ct := v1alpha1.TypeAPIReachable

	switch {
	case f.access.kubeconfig != nil && f.workload.rolling:
		return pendingChange(ct, "the control plane is rolling out")
	case f.access.kubeconfig != nil:
		return done(ct)
	case f.workload.trouble != "":
		return notDone(ct, v1alpha1.ReasonProgressing, "the control plane is not ready: "+f.workload.trouble)
	case f.access.err == nil:
		return notDone(ct, v1alpha1.ReasonWaiting, "the control plane is not installed yet")
	case isUnusable(f.access.err):
		return notDone(ct, v1alpha1.ReasonFailed, f.access.err.Error())
	default:
		return notDone(ct, v1alpha1.ReasonProgressing, f.access.err.Error())
	}
}

// isUnusable says that waiting does not help. A name that is not in the
// certificate is such a case; an API that does not answer is not.
func isUnusable(err error) bool {
	var name x509.HostnameError

	return errors.Is(err, errUnusable) || errors.As(err, &name)
}

func (f *facts) kubeconfigStage() xpv2.Condition {
	ct := v1alpha1.TypeKubeconfigPublished

	switch {
	case f.access.published:
		return done(ct)
	case f.mustPublish():
		return notDone(ct, v1alpha1.ReasonProgressing, "the kubeconfig is to be published")
	default:
		return notDone(ct, v1alpha1.ReasonWaiting, "the tenant's API does not answer yet")
	}
}
