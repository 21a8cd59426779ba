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
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/quota"
)

// errUnknown says that something could not be found out. It is never taken for absence.
var errUnknown = errors.New("unknown")

// also is an error that is as another one, too, which its words do not say.
type also struct {
	error

	as error
}

func (e also) Unwrap() []error { return []error{e.error, e.as} }

// unknown is err as an errUnknown.
func unknown(err error) error { return also{error: err, as: errUnknown} }

// errNotReady says that the control plane has to become ready first.
var errNotReady = errors.New("the control plane is not ready yet")

// facts are what one pass found out about a Tenant that is not being deleted.
type facts struct {
	names names
	// may is what the management policies allow.
	may      reconciler.Policies
	boundary boundary
	// adopting says that the namespace is another's and is to become the Tenant's,
	// before anything else is done.
	adopting bool
	// right says that nothing of the boundary must change, but for its isolation.
	right bool

	desired desired
	// invalid says why the spec cannot become a release.
	invalid error
	// wall is what the ResourceQuota of the host namespace should say.
	wall corev1.ResourceQuotaSpec
	// wallKept says why it stays as it is, whatever the spec says.
	wallKept error
	// shares are those of the wall that the spec asks for.
	shares v1alpha1.QuotaStatus

	// isolation is what the isolation of the host namespace should be, as far as that
	// can be said.
	isolation isolationWanted
	// isolationKept says why it, or a part of it, stays as it is.
	isolationKept error
	// notIsolated names what of it must change; empty if nothing must.
	notIsolated string

	release *helm.Release
	// drift says in words what is wrong with an object of the release; empty when nothing is.
	drift  string
	state  releaseState
	reason string
	// prepared is what the release is to be written with; nil until that was asked.
	prepared *prepared
	workload controlPlaneFacts
	access   access
	// certificate is the kubeconfig's.
	certificate certificate

	dns      dnsFacts
	flux     fluxFacts
	children children
	// agentRight and quotaRight say that nothing of the Tenant's own must change.
	agentRight, quotaRight bool
}

// prepared is a chart for the release, or why it must not be written.
type prepared struct {
	chart   *helm.Chart
	refused error
}

// gather finds out all that there is to know. An error means that something is
// unknown or, with errConflict, that the Tenant must keep its hands off.
func (e *external) gather(ctx context.Context, t *v1alpha1.Tenant) (*facts, error) {
	f := &facts{names: e.names, may: reconciler.PoliciesOf(t)}

	var err error
	if f.boundary, err = e.readBoundary(ctx, t); err != nil {
		return nil, err
	}

	if err := e.checkHost(ctx, t, f.boundary.namespace); err != nil {
		return nil, err
	}

	if err := e.checkIdentity(ctx, t, f.boundary.namespace); err != nil {
		return nil, err
	}

	hostAPI, err := e.readHostAPI(ctx)
	if err != nil {
		return nil, err
	}

	// What is only looked at is nobody's CloudSpace before it is there.
	e.identified = !f.may.LooksOnly()
	ns := f.boundary.namespace
	f.adopting = ns != nil && !owns(t, ns) && !f.may.LooksOnly()
	f.desired, f.invalid = desire(t, e.defaults)
	f.flux = wantFlux(t, e.defaults)
	f.flux.may = f.may

	if f.children, err = e.readChildren(ctx, t); err != nil {
		return nil, err
	}

	f.agentRight, f.quotaRight = e.agentRight(t, f.children), e.quotaRight(t, f.children)

	if ns == nil {
		f.state, f.reason = e.classify(nil, f.desired, "")
	} else if err := e.gatherInstalled(ctx, t, f); err != nil {
		return nil, err
	}

	if f.may.LooksOnly() {
		e.identified = f.exists()
		f.wall = f.boundary.wall()
		f.shares = quota.Shares(t.Spec.Quota, f.wall.Hard)

		return f, nil
	}

	f.wall, f.wallKept = e.wantWall(ctx, t, f)
	f.right = f.invalid == nil && e.isRight(t, f.boundary, f.wall)
	f.isolation, f.isolationKept = e.wantIsolation(f.boundary, hostAPI)
	f.notIsolated = e.notIsolated(t, f.boundary, f.isolation)

	return f, nil
}

// gatherInstalled finds out what is on the host and inside the vCluster.
func (e *external) gatherInstalled(ctx context.Context, t *v1alpha1.Tenant, f *facts) error {
	if err := e.gatherRelease(ctx, t, f); err != nil {
		return err
	}

	e.gatherInside(ctx, f)

	return nil
}

// gatherInside finds out what works inside the vCluster, in a time of its own: its
// API may hang.
func (e *external) gatherInside(ctx context.Context, f *facts) {
	ctx, cancel := context.WithTimeout(ctx, inside.PassTimeout)
	defer cancel()

	e.gatherDNS(ctx, f)
	e.gatherFlux(ctx, f)
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

	f.certificate = certificateOf(f.access, f.workload, renewalTime(t.GetUID()), e.clock.Now())

	if f.drift, err = e.findDrift(ctx, f.release, f.access.kubeconfig != nil); err != nil {
		return err
	}

	f.state, f.reason = e.classify(f.release, f.desired, f.drift)
	if f.invalid != nil {
		f.state, f.reason = releaseInvalid, f.invalid.Error()
	}

	return nil
}

// exists says whether there is anything to look at or to change. Without leave to
// update, what was not brought to its end must be created.
func (f *facts) exists() bool {
	switch {
	case f.may.LooksOnly():
		return f.boundary.namespace != nil && f.installed()
	case f.may.Update || f.goingAway():
		return f.boundary.namespace != nil
	default:
		return !f.unfinished()
	}
}

// installed says that there is a release.
func (f *facts) installed() bool {
	return f.release != nil && f.release.Status != helm.StatusUninstalled
}

// goingAway says that someone deleted the namespace. It is made anew once it is gone.
func (f *facts) goingAway() bool {
	return f.boundary.namespace != nil && f.boundary.namespace.GetDeletionTimestamp() != nil
}

// settled says that there is nothing to do but to wait. Otherwise the runtime updates
// also what does not exist, and must not be made.
func (f *facts) settled() bool {
	if f.goingAway() || f.may.LooksOnly() || (f.boundary.namespace == nil && !f.may.Create) {
		return true
	}

	return f.hostSettled() && f.insideSettled() && !f.renewalDue()
}

// hostSettled says so of the boundary and the vCluster's release.
func (f *facts) hostSettled() bool {
	return f.right && f.notIsolated == "" && (f.state == releaseInSync || f.state == releaseLocked)
}

// insideSettled says so of what runs inside the vCluster, into which there may be
// no way yet.
func (f *facts) insideSettled() bool {
	return f.access.kubeconfig == nil || (f.flux.settled() && f.agentRight && f.quotaRight)
}

// onlyBesideDue says that nothing is to be done on the host or inside the vCluster: what
// may be due is beside the Tenant, its own AdvisorAgent and TenantQuota.
func (f *facts) onlyBesideDue() bool {
	return !f.adopting && f.hostSettled() && !f.renewalDue() && f.access.kubeconfig != nil && f.flux.settled()
}

// unfinished says that something is missing that was never made, or was not brought
// to its end. It is created also where nothing may be updated.
func (f *facts) unfinished() bool {
	return f.boundaryUnfinished() || f.releaseUnfinished() ||
		(f.access.kubeconfig != nil && (f.flux.unfinished() || f.quotaUnfinished() || f.agentUnfinished()))
}

func (f *facts) boundaryUnfinished() bool {
	return f.boundary.namespace == nil || f.boundary.quota == nil || f.boundary.limits == nil || f.isolationUnfinished()
}

// releaseUnfinished says that the release was never installed to its end. What runs,
// and whose upgrade failed, was.
func (f *facts) releaseUnfinished() bool {
	ran := f.workload.ready && f.release != nil && f.release.Revision > 1
	return isUnfinished(f.state, f.release) && !ran
}

// releaseDue says that the release is to be written now.
func (f *facts) releaseDue() bool {
	return f.state != releaseInSync && f.state != releaseLocked && f.may.Allow(f.releaseUnfinished())
}

// boundaryDue says that the boundary is to be written now.
func (f *facts) boundaryDue() bool {
	due := f.notIsolated != "" || (!f.right && f.invalid == nil)
	return due && f.may.Allow(f.boundaryUnfinished())
}

// mustPublish says so once the namespace is the Tenant's, or there is something that is
// only looked at.
func (f *facts) mustPublish() bool {
	return f.access.kubeconfig != nil && !f.access.published && !f.adopting && (f.installed() || !f.may.LooksOnly())
}

// stages turns facts into conditions, in the order of the stages.
func (f *facts) stages() []xpv2.Condition {
	boundary, release := f.boundaryStage, f.releaseStage
	if f.may.LooksOnly() {
		boundary, release = f.observedBoundary, f.observedRelease
	}

	return []xpv2.Condition{
		boundary(), release(), f.apiStage(), f.kubeconfigStage(), f.dnsStage(), f.flux.stage(), f.quotaStage(), f.advisorStage(),
	}
}

// withoutUpdate says why a change waits that management policies keep from being made.
const withoutUpdate = ", which spec.managementPolicies without Update do not allow"

// waits says of a change that it has to wait.
func waits(may reconciler.Policies, ct xpv2.ConditionType, change string) xpv2.Condition {
	if !may.Update {
		change += withoutUpdate
	}

	return pendingChange(ct, change)
}

func (f *facts) boundaryStage() xpv2.Condition {
	ct := v1alpha1.TypeBoundaryReady

	switch ns := f.boundary.namespace; {
	case ns == nil && !f.may.Create:
		return notDone(ct, v1alpha1.ReasonFailed, f.absent())
	case ns == nil:
		return notDone(ct, v1alpha1.ReasonWaiting, "the host namespace does not exist yet")
	case f.goingAway():
		return notDone(ct, v1alpha1.ReasonProgressing,
			fmt.Sprintf("someone deleted namespace %q on the host cluster; it is made anew once it is gone", ns.GetName()))
	case f.adopting:
		return notDone(ct, v1alpha1.ReasonProgressing, fmt.Sprintf("namespace %q on the host cluster is to be adopted", ns.GetName()))
	case f.boundary.quota == nil || f.boundary.limits == nil:
		return notDone(ct, v1alpha1.ReasonProgressing, "the quota of the host namespace is not complete yet")
	default:
		return f.boundaryChanges()
	}
}

// boundaryChanges is the stage of a boundary that is there. What is not isolated is told
// first, since it is graver, and hides nothing of the quota.
func (f *facts) boundaryChanges() xpv2.Condition {
	isolation, wall := f.isolationStage(), f.wallStage()

	switch {
	case isolation.Reason == v1alpha1.ReasonDone:
		return wall
	case isolation.Status != corev1.ConditionTrue || wall.Reason == v1alpha1.ReasonDone:
		return isolation
	default:
		return pendingChange(isolation.Type, isolation.Message+"; "+wall.Message)
	}
}

// wallStage is the stage of a boundary that is isolated.
func (f *facts) wallStage() xpv2.Condition {
	ct := v1alpha1.TypeBoundaryReady

	switch {
	case errors.Is(f.wallKept, errInUse):
		return pendingChange(ct, "the quota of the host namespace comes down only as far as it is free: "+f.wallKept.Error())
	case f.wallKept != nil:
		return pendingChange(ct, "the quota of the host namespace stays as it is: "+f.wallKept.Error())
	case !f.right && f.invalid == nil:
		return waits(f.may, ct, "the quota of the host namespace is to change")
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
		return waits(f.may, ct, f.reason)
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
	case f.access.published && f.certificate.late:
		return xpv2.Condition{Type: ct, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonExpiring, Message: f.certificate.warning()}
	case f.access.published:
		return done(ct)
	case f.mustPublish():
		return notDone(ct, v1alpha1.ReasonProgressing, "the kubeconfig is to be published")
	default:
		return notDone(ct, v1alpha1.ReasonWaiting, "the tenant's API does not answer yet")
	}
}
