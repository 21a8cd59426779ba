// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
)

// isTrue is the value of an annotation that says yes.
const isTrue = "true"

// handingOn hands a Tenant's management policies and its pause on to the AdvisorAgent
// and the TenantQuota that it made, and then goes on to the Tenant. It comes first,
// since a Tenant that is paused, or may not be updated, has no pass that could, and
// one that is let go is gone after it.
type handingOn struct {
	reconcile.Reconciler

	kube   client.Client
	record event.Recorder
}

// Reconcile the Tenant of the request.
func (h handingOn) Reconcile(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
	t := &v1alpha1.Tenant{}
	err := h.kube.Get(ctx, r.NamespacedName, t, client.UnsafeDisableDeepCopy) // It is only read.

	switch {
	case kerrors.IsNotFound(err):
		return h.Reconciler.Reconcile(ctx, r)
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("cannot read the Tenant: %w", err)
	}

	err = h.handOn(ctx, t)
	if kerrors.IsConflict(err) {
		return reconcile.Result{Requeue: true}, nil //nolint:staticcheck // With the pause of a failure, as the runtime does.
	}

	if err != nil {
		// No pass follows that could say so in the status.
		h.record.Event(t, event.Warning(reasonCannotHandOn, err))
		return reconcile.Result{}, err
	}

	return h.Reconciler.Reconcile(ctx, r)
}

func (h handingOn) handOn(ctx context.Context, t *v1alpha1.Tenant) error {
	agents, quotas, err := listChildren(ctx, h.kube, t)
	if err != nil {
		return err
	}

	if a, _ := split(t, agents); a != nil {
		if err := h.handTo(ctx, t, a); err != nil {
			return err
		}
	}

	if q, _ := split(t, quotas); q != nil {
		return h.handTo(ctx, t, q)
	}

	return nil
}

// handTo writes the child if anything of it has to change.
func (h handingOn) handTo(ctx context.Context, t *v1alpha1.Tenant, child resource.Managed) error {
	paused, policies := handPause(t, child), handPolicies(t, child)
	if !paused && !policies {
		return nil
	}

	// One that is gone follows nobody.
	return wrapped(client.IgnoreNotFound(h.kube.Update(ctx, child)), "cannot update", child)
}

// handPolicies says whether the child had others. A Tenant that is paused for lack of
// any leaves it those that it has.
func handPolicies(t *v1alpha1.Tenant, child resource.Managed) bool {
	p := t.GetManagementPolicies()
	if len(p) == 0 || slices.Equal(p, child.GetManagementPolicies()) {
		return false
	}

	child.SetManagementPolicies(p)

	return true
}

// handPause says whether that of the child changed. A child that a person paused stays
// paused.
func handPause(t *v1alpha1.Tenant, child resource.Managed) bool {
	is, byUs := meta.IsPaused(child), child.GetAnnotations()[v1alpha1.AnnotationPausedByTenant] == isTrue

	switch {
	case reconciler.IsPaused(t) && !is:
		meta.AddAnnotations(child, map[string]string{meta.AnnotationKeyReconciliationPaused: isTrue, v1alpha1.AnnotationPausedByTenant: isTrue})
	case !reconciler.IsPaused(t) && byUs:
		meta.RemoveAnnotations(child, meta.AnnotationKeyReconciliationPaused, v1alpha1.AnnotationPausedByTenant)
	default:
		return false
	}

	return true
}
