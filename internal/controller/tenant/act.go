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
)

// Reasons of events.
const (
	reasonUnlocked event.Reason = "UnlockedRelease"
	reasonRepaired event.Reason = "RepairedRelease"
	reasonStalled  event.Reason = "DeletionStalled"
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

// act does what the facts that Observe saw call for, looks again and writes what
// came of it into the status. It waits for nothing.
func (e *external) act(ctx context.Context, t *v1alpha1.Tenant) error {
	if stage, err := e.step(ctx, t, e.seen); err != nil {
		e.reportFailure(t, stage, err)
		return err
	}

	f, err := e.gather(ctx, t)
	if err != nil {
		e.reportUnknown(t, err)
		return err
	}

	e.seen = f
	e.reportFacts(t)

	return nil
}

// step does everything that can be done now. With an error it says which stage
// failed. The way into the tenant's API is kept whatever becomes of a change.
func (e *external) step(ctx context.Context, t *v1alpha1.Tenant, f *facts) (xpv2.ConditionType, error) {
	if f.mustPublish() {
		if err := e.publish(ctx, t, f.access.kubeconfig); err != nil {
			return v1alpha1.TypeKubeconfigPublished, err
		}
	}

	if last, ok := e.failures.pausing(t, e.clock.Now()); ok {
		return last.stage, last.err
	}

	stage, err := e.change(ctx, t, f)
	if isRace(err) {
		return "", nil
	}

	if err != nil {
		e.failures.add(t, stage, err, e.clock.Now())
		return stage, err
	}

	e.failures.forget(t)

	return "", nil
}

// isRace says that something changed between the look and the act. The next pass
// looks again.
func isRace(err error) bool {
	return kerrors.IsConflict(err) || errors.Is(err, helm.ErrReleaseLocked) || errors.Is(err, helm.ErrReleaseChanged)
}

// change brings the boundary and the release to what is wanted. A refused change
// of a release that is there does not hold back the wall.
func (e *external) change(ctx context.Context, t *v1alpha1.Tenant, f *facts) (xpv2.ConditionType, error) {
	chart, refused := e.prepare(ctx, f)
	if f.boundary.namespace == nil && refused != nil {
		return v1alpha1.TypeReleaseDeployed, refused
	}

	if f.invalid == nil && !f.right {
		if err := e.makeBoundary(ctx, t, f.desired.wall); err != nil {
			return v1alpha1.TypeBoundaryReady, err
		}
	}

	if refused != nil {
		return v1alpha1.TypeReleaseDeployed, refused
	}

	return v1alpha1.TypeReleaseDeployed, e.makeRelease(ctx, t, f, chart)
}

// prepare gets the chart for a release that is to be written, and refuses what
// must not be: a change that the vCluster would not survive, and values that the
// chart's schema refuses.
func (e *external) prepare(ctx context.Context, f *facts) (*helm.Chart, error) {
	if f.invalid != nil {
		return nil, f.invalid
	}

	switch f.state {
	case releaseInSync, releaseLocked:
		return nil, nil
	case releaseAbsent:
	default:
		if err := refuse(f.release, f.desired); err != nil {
			return nil, err
		}
	}

	c, err := e.chart(ctx, f.desired.chartVersion)
	if err != nil {
		return nil, err
	}

	return c, c.Validate(f.desired.values)
}

func (e *external) makeRelease(ctx context.Context, t *v1alpha1.Tenant, f *facts, c *helm.Chart) error {
	if f.state == releaseInSync || f.state == releaseLocked {
		return nil
	}

	if err := e.checkNamespace(ctx, t); err != nil {
		return err
	}

	if f.state == releaseAbsent {
		_, err := e.helm.Install(ctx, e.names.release, c, f.desired.values)
		return err
	}

	if f.state == releaseStale {
		if err := e.helm.Unlock(ctx, f.release); err != nil {
			return fmt.Errorf("cannot unlock release %q: %w", e.names.release, err)
		}

		e.record.Event(t, event.Normal(reasonUnlocked, f.reason))
	}

	if _, err := e.helm.Upgrade(ctx, e.names.release, c, f.desired.values); err != nil {
		return err
	}

	if f.state == releaseDrifted {
		e.record.Event(t, event.Normal(reasonRepaired, f.reason))
	}

	return nil
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
		return foreignNamespace(t, ns)
	default:
		return nil
	}
}

// reportFailure marks the stage that failed. A Tenant that works stays Ready
// when only a change of it failed.
func (e *external) reportFailure(t *v1alpha1.Tenant, failed xpv2.ConditionType, err error) {
	stages := e.seen.stages()

	for i, s := range stages {
		if s.Type != failed {
			continue
		}

		reason := v1alpha1.ReasonFailed
		if errors.Is(err, errConflict) {
			reason = v1alpha1.ReasonConflict
		}

		if s.Status == corev1.ConditionTrue && e.seen.workload.ready {
			stages[i] = pendingChange(failed, err.Error())
		} else {
			stages[i] = notDone(failed, reason, err.Error())
		}
	}

	e.report(t, summarize(failureFirst(stages, failed)), stages)
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
