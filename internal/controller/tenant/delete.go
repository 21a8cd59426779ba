// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// stalledAfter is how long a deletion may take before a person should look.
const stalledAfter = 15 * time.Minute

// observeDeletion says that the Tenant exists as long as anything is left of
// it, or could not be looked at. The finalizer stays as long.
func (e *external) observeDeletion(ctx context.Context, t *v1alpha1.Tenant) (managed.ExternalObservation, error) {
	e.failures.forgetTenant(t)

	r, err := e.readRemains(ctx, t)
	if err != nil && e.letsGo(t, err) {
		return managed.ExternalObservation{}, nil
	}

	if err != nil {
		return managed.ExternalObservation{}, err
	}

	e.unseen.forget(t.GetUID())

	if r.foreign {
		e.before.Report = nil // The CloudSpace lives on, and is another's to tell of.
	}

	e.left = r
	e.reportDeletion(t, v1alpha1.ReasonRemoving, e.describe(ctx, r))

	return managed.ExternalObservation{ResourceExists: !r.none(), ResourceUpToDate: true}, nil
}

// Delete takes the next step of the deletion, in a strict order: what is inside the
// vCluster, the release, the namespace, what outlives the namespace, the published
// Secret. It goes on to a step only when a read has shown that the one before is
// done, but for what is inside: that goes with the vCluster in any case, and is
// skipped when it cannot be removed within its budget.
func (e *external) Delete(ctx context.Context, t *v1alpha1.Tenant) (managed.ExternalDelete, error) {
	err := e.removeNext(ctx, t, e.left)
	if err != nil {
		e.reportDeletion(t, v1alpha1.ReasonRemoving, err.Error())
	}

	return managed.ExternalDelete{}, err
}

func (e *external) removeNext(ctx context.Context, t *v1alpha1.Tenant, r remains) error {
	if !r.inside.none() && !r.inside.skip {
		return e.removeInside(ctx, r.inside)
	}

	if r.release != nil {
		if err := e.removeRelease(ctx); err != nil {
			return err
		}

		e.tellSkipped(t, r.inside)
	}

	if r.namespace != nil {
		return e.remove(ctx, r.namespace)
	}

	for _, o := range r.clusterScoped {
		if err := e.remove(ctx, o); err != nil {
			return err
		}
	}

	if len(r.clusterScoped) > 0 || len(r.volumes) > 0 || r.secret == nil {
		return nil
	}

	return removeFrom(ctx, e.kube, r.secret)
}

// removeRelease uninstalls the release and proves that it is gone.
func (e *external) removeRelease(ctx context.Context) error {
	if err := e.helm.Uninstall(ctx, e.names.release); err != nil {
		return fmt.Errorf("cannot uninstall release %q: %w", e.names.release, err)
	}

	if _, err := e.helm.Get(ctx, e.names.release); !errors.Is(err, helm.ErrReleaseNotFound) {
		return fmt.Errorf("release %q is still there after it was uninstalled: %w", e.names.release, err)
	}

	return nil
}

func (e *external) remove(ctx context.Context, o client.Object) error {
	return removeFrom(ctx, e.live, o)
}

// removeFrom asks for the deletion of exactly this object, unless that was asked
// for before. An object that is gone is a success.
func removeFrom(ctx context.Context, c client.Client, o client.Object) error {
	if o.GetDeletionTimestamp() != nil {
		return nil
	}

	uid := o.GetUID()

	err := c.Delete(ctx, o, client.Preconditions{UID: &uid})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot delete %T %q: %w", o, o.GetName(), err)
	}

	return nil
}

// reportDeletion writes what the deletion waits for into the status, and why into the
// condition of the boundary, which goes last. One event says so when it takes too long.
func (e *external) reportDeletion(t *v1alpha1.Tenant, why xpv2.ConditionReason, message string) {
	stages := []xpv2.Condition{notDone(v1alpha1.TypeBoundaryReady, why, message)}

	for _, ct := range []xpv2.ConditionType{
		v1alpha1.TypeReleaseDeployed, v1alpha1.TypeAPIReachable, v1alpha1.TypeKubeconfigPublished, v1alpha1.TypeDNSReady,
		v1alpha1.TypeFluxReady, v1alpha1.TypeQuotaApplied, v1alpha1.TypeAdvisorReady,
	} {
		stages = append(stages, notDone(ct, v1alpha1.ReasonRemoving, "the Tenant is being deleted"))
	}

	if e.clock.Since(t.GetDeletionTimestamp().Time) >= stalledAfter {
		stalled := xpv2.Condition{
			Type:    v1alpha1.TypeStalled,
			Status:  corev1.ConditionTrue,
			Reason:  v1alpha1.ReasonBlocked,
			Message: fmt.Sprintf("deletion takes longer than %s: %s", stalledAfter, message),
		}

		if t.GetCondition(v1alpha1.TypeStalled).Status != corev1.ConditionTrue {
			e.record.Event(t, event.Warning(reasonStalled, errors.New(stalled.Message)))
		}

		stages = append(stages, stalled)
	}

	e.settle(t, summarizeDeletion(message), stages...)
}
