// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// Reasons of events.
const (
	reasonAdopted      event.Reason = "Adopted"
	reasonCannotHandOn event.Reason = "CannotHandOn"
	reasonUnlocked     event.Reason = "UnlockedRelease"
	reasonRepaired     event.Reason = "RepairedRelease"
	reasonFailed       event.Reason = "Failed"
	reasonStalled      event.Reason = "DeletionStalled"
	reasonSkipped      event.Reason = "DeletionSkipped"
	reasonUnreported   event.Reason = "DeletionUnreported"
	reasonAbandoned    event.Reason = "Abandoned"
	reasonRenewing     event.Reason = "RenewingCertificate"
	reasonExpiring     event.Reason = "CertificateExpiring"
)

// Create makes the host namespace with its wall and starts the release.
func (e *external) Create(ctx context.Context, t *v1alpha1.Tenant) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, e.act(ctx, t)
}

// Update brings what is there to what is wanted, and goes on where an earlier
// pass stopped.
func (e *external) Update(ctx context.Context, t *v1alpha1.Tenant) (managed.ExternalUpdate, error) {
	return managed.ExternalUpdate{}, e.act(ctx, t)
}

// act does what the facts that Observe saw call for, looks again unless that was only
// beside the Tenant, and writes what came of it into the status. It waits for nothing.
func (e *external) act(ctx context.Context, t *v1alpha1.Tenant) error {
	beside := e.seen.onlyBesideDue()

	if failed := e.step(ctx, t, e.seen); len(failed) > 0 {
		return e.reportFailures(t, failed)
	}

	// What was made beside the Tenant changes nothing of what was seen of its vCluster.
	if !beside {
		f, err := e.gather(ctx, t)
		if err != nil {
			e.reportUnknown(t, err)
			return err
		}

		e.seen = f
	}

	e.reportFacts(t)

	return nil
}

// stageFailure is a stage that could not be brought further, and why.
type stageFailure struct {
	stage xpv2.ConditionType
	err   error
}

// step does everything that can be done now, and returns what failed. One part
// does not hold back another.
func (e *external) step(ctx context.Context, t *v1alpha1.Tenant, f *facts) []stageFailure {
	var failed []stageFailure

	try := func(p part, due bool, fn func() (xpv2.ConditionType, error)) {
		if stage, err := e.try(t, p, due, fn); err != nil {
			failed = append(failed, stageFailure{stage, err})
		}
	}

	if f.adopting {
		try(partHost, !f.goingAway(), func() (xpv2.ConditionType, error) { return e.adopt(ctx, t, f) })
		return failed
	}

	try(partHost, f.boundaryDue() || f.releaseDue(), func() (xpv2.ConditionType, error) { return e.change(ctx, t, f) })
	try(partRenewal, f.renewalDue(), func() (xpv2.ConditionType, error) { return e.renew(ctx, t, f) })

	if f.access.kubeconfig == nil {
		return failed
	}

	try(partQuota, !f.quotaRight && f.may.Allow(f.quotaUnfinished()), func() (xpv2.ConditionType, error) {
		return v1alpha1.TypeQuotaApplied, e.makeQuota(ctx, t, &f.children)
	})
	try(partAdvisor, !f.agentRight && f.may.Allow(f.agentUnfinished()), func() (xpv2.ConditionType, error) {
		return v1alpha1.TypeAdvisorReady, e.makeAgent(ctx, t, &f.children)
	})
	try(partFlux, !f.flux.settled() && f.may.Allow(f.flux.unfinished()), func() (xpv2.ConditionType, error) {
		return v1alpha1.TypeFluxReady, e.makeFlux(ctx, t, f.access.in, &f.flux)
	})

	return failed
}

// try one part if it is due, unless it failed so lately that it is not its time.
func (e *external) try(t *v1alpha1.Tenant, p part, due bool, fn func() (xpv2.ConditionType, error)) (xpv2.ConditionType, error) {
	if !due {
		e.failures.forget(t, p)
		return "", nil
	}

	if last, ok := e.pausing(t, p); ok {
		return last.stage, last.err
	}

	stage, err := fn()

	switch {
	case isRace(err):
		return "", nil
	case err == nil:
		e.failures.forget(t, p)
		return "", nil
	}

	e.failures.add(t, p, stage, err, e.clock.Now())

	return stage, err
}

// pausing returns the failure that the part is not to be tried again for yet.
func (e *external) pausing(t *v1alpha1.Tenant, p part) (failure, bool) {
	if e.retry {
		return failure{}, false
	}

	return e.failures.pausing(t, p, e.clock.Now())
}

// isRace says that something changed between the look and the act. The next pass
// looks again.
func isRace(err error) bool {
	return kerrors.IsConflict(err) || errors.Is(err, helm.ErrReleaseLocked) || errors.Is(err, helm.ErrReleaseChanged)
}

// change brings the boundary and the release to what is wanted. A refused change
// of a release that is there does not hold back the wall, and an isolation that cannot
// be made holds back nothing of what was installed without it.
func (e *external) change(ctx context.Context, t *v1alpha1.Tenant, f *facts) (xpv2.ConditionType, error) {
	chart, refused := e.prepare(ctx, f)
	if f.boundary.namespace == nil && refused != nil {
		return v1alpha1.TypeReleaseDeployed, refused
	}

	open := f.cannotIsolate()
	if open != nil && f.isolationUnfinished() {
		return v1alpha1.TypeBoundaryReady, open
	}

	if f.boundaryDue() {
		if err := e.repairBoundary(t, f, func() error { return e.makeBoundary(ctx, t, f) }); err != nil {
			return v1alpha1.TypeBoundaryReady, errors.Join(open, err)
		}
	}

	var err error
	if refused != nil {
		err = errors.Join(refused, e.repair(ctx, t, f))
	} else {
		err = e.makeRelease(ctx, t, f, chart)
	}

	if open != nil {
		return v1alpha1.TypeBoundaryReady, errors.Join(open, err)
	}

	return v1alpha1.TypeReleaseDeployed, err
}

// repair what is wrong with the release as it is, when the change that is wanted of it
// is refused: a vCluster does not stay broken for a mistake in its spec.
func (e *external) repair(ctx context.Context, t *v1alpha1.Tenant, f *facts) error {
	if f.drift == "" || f.state == releaseDrifted || !f.may.Update {
		return nil
	}

	c, err := e.chart(ctx, f.release.ChartVersion)
	if err != nil {
		return err
	}

	if err := e.checkNamespace(ctx, t); err != nil {
		return err
	}

	if err := e.keepAddress(ctx, t, f.release); err != nil {
		return err
	}

	return e.writeRelease(ctx, t, e.helm, e.names.release, releaseChange{
		chart: c, values: f.release.Values, release: f.release, state: releaseDrifted, reason: drifted(f.release, f.drift),
	})
}

// prepare the release that is to be written, once for each look.
func (e *external) prepare(ctx context.Context, f *facts) (*helm.Chart, error) {
	if f.prepared == nil {
		c, err := e.checked(ctx, f)
		f.prepared = &prepared{c, err}
	}

	return f.prepared.chart, f.prepared.refused
}

// checked gets the chart for a release that is to be written, and refuses what
// must not be: a change that the vCluster would not survive, and values that the
// chart's schema refuses.
func (e *external) checked(ctx context.Context, f *facts) (*helm.Chart, error) {
	if f.invalid != nil {
		return nil, f.invalid
	}

	if !f.releaseDue() {
		return nil, nil
	}

	if f.state != releaseAbsent {
		if err := refuse(f.release, f.desired); err != nil {
			return nil, err
		}
	}

	c, err := e.chart(ctx, f.desired.chartVersion)
	if errors.Is(err, helm.ErrChartNotFound) {
		return nil, fmt.Errorf("cannot use %s: %w; supported are %s", f.desired.chartVersionFrom, err, vcluster.SupportedCharts)
	}

	if err != nil {
		return nil, err
	}

	if err := c.Validate(f.desired.values); err != nil {
		return nil, fmt.Errorf("cannot use vcluster.valuesOverrides (values of the charts %s are supported): %w", vcluster.SupportedCharts, err)
	}

	return c, nil
}

func (e *external) makeRelease(ctx context.Context, t *v1alpha1.Tenant, f *facts, c *helm.Chart) error {
	if !f.releaseDue() {
		return nil
	}

	if err := e.checkNamespace(ctx, t); err != nil {
		return err
	}

	if err := e.keepAddress(ctx, t, f.release); err != nil {
		return err
	}

	return e.writeRelease(ctx, t, e.helm, e.names.release, releaseChange{
		chart: c, values: f.desired.values, release: f.release, state: f.state, reason: f.reason,
	})
}

// releaseChange is a release as it is, in a state for a reason, and what it is to
// become.
type releaseChange struct {
	chart  *helm.Chart
	values map[string]any

	release *helm.Release
	state   releaseState
	reason  string
	// where it is, for messages; empty is the host cluster.
	where string
}

// writeRelease installs the release of that name or brings it to what is wanted, and
// tells what it had to mend for that.
func (e *external) writeRelease(ctx context.Context, t *v1alpha1.Tenant, c helm.Client, name string, r releaseChange) error {
	if r.state == releaseAbsent {
		_, err := c.Install(ctx, name, r.chart, r.values)
		return err
	}

	if r.state == releaseStale {
		if err := c.Unlock(ctx, r.release); err != nil {
			return fmt.Errorf("cannot unlock release %q%s: %w", name, r.where, err)
		}

		e.record.Event(t, event.Normal(reasonUnlocked, r.reason))
	}

	upgrade := func() error {
		_, err := c.Upgrade(ctx, name, r.chart, r.values)
		return err
	}

	if r.state != releaseDrifted {
		return upgrade()
	}

	return e.repairOnce(t, part(name), r.reason, settleTime, func() error {
		if err := upgrade(); err != nil {
			return err
		}

		e.record.Event(t, event.Normal(reasonRepaired, r.reason))

		return nil
	})
}

// checkNamespace makes sure, right before Helm writes into the namespace, that
// it is still the Tenant's: what was seen of it may come from a cache.
func (e *external) checkNamespace(ctx context.Context, t *v1alpha1.Tenant) error {
	ns, err := e.liveNamespace(ctx, e.names.namespace)

	switch {
	case err != nil:
		return err
	case ns == nil || ns.GetDeletionTimestamp() != nil:
		return fmt.Errorf("cannot install into namespace %q on the host cluster: someone deleted it", e.names.namespace)
	case !owns(t, ns):
		return foreignNamespace(ns)
	default:
		return nil
	}
}

// reportFailure marks the stage that failed.
func (e *external) reportFailure(t *v1alpha1.Tenant, failed xpv2.ConditionType, err error) {
	_ = e.reportFailures(t, []stageFailure{{failed, err}})
}

// reportFailures marks the stages that failed and returns all that went wrong. A
// Tenant that works stays Ready when only a change of it failed.
func (e *external) reportFailures(t *v1alpha1.Tenant, failed []stageFailure) error {
	stages := e.seen.stages()
	errs := make([]error, 0, len(failed))

	for _, f := range failed {
		errs = append(errs, f.err)

		for i, s := range stages {
			if s.Type == f.stage {
				stages[i] = e.failedStage(s, f.err)
			}
		}
	}

	e.report(t, summarize(failureFirst(stages, failed[0].stage)), stages)

	return errors.Join(errs...)
}

func (e *external) failedStage(s xpv2.Condition, err error) xpv2.Condition {
	switch {
	case s.Status == corev1.ConditionTrue && e.seen.workload.ready:
		return pendingChange(s.Type, err.Error())
	case errors.Is(err, errConflict):
		return notDone(s.Type, v1alpha1.ReasonConflict, err.Error())
	case errors.Is(err, errUnknown):
		return notDone(s.Type, v1alpha1.ReasonProgressing, err.Error())
	default:
		return notDone(s.Type, v1alpha1.ReasonFailed, err.Error())
	}
}

// failureFirst puts the stage that failed before those that only wait for their
// turn: the failure and not the wait is what a person must read.
func failureFirst(stages []xpv2.Condition, failed xpv2.ConditionType) []xpv2.Condition {
	for i, s := range stages {
		if s.Type == failed {
			return append([]xpv2.Condition{s}, append(stages[:i:i], stages[i+1:]...)...)
		}
	}

	return stages
}
