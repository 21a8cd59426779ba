// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
)

// finalizer is that of Tenants, see [reconciler.Finalizer]. It hands on their last
// report before it goes.
type finalizer struct {
	resource.Finalizer

	live   client.Reader
	record event.Recorder
	clock  clock.PassiveClock
	// forget what is kept of a Tenant beside the cluster.
	forget func(t *v1alpha1.Tenant)
	// keep is nil when nothing is reported.
	keep keeper
}

// AddFinalizer adds the finalizer to o and leaves its status as it is.
func (f finalizer) AddFinalizer(ctx context.Context, o resource.Object) error {
	return f.shared().AddFinalizer(ctx, o)
}

// RemoveFinalizer errs when the last report cannot be kept.
func (f finalizer) RemoveFinalizer(ctx context.Context, o resource.Object) error {
	t, ok := o.(*v1alpha1.Tenant)
	if !ok {
		return fmt.Errorf("cannot remove the finalizer of a %T: %w", o, errNotTenant)
	}

	if err := f.keepLast(ctx, t); err != nil {
		return err
	}

	if err := f.shared().RemoveFinalizer(ctx, o); err != nil {
		return err
	}

	f.forget(t)

	return nil
}

func (f finalizer) shared() reconciler.Finalizer {
	return reconciler.Finalizer{Finalizer: f.Finalizer, Live: f.live, Merge: mergeAcceptance}
}

// mergeAcceptance keeps that the report of a Tenant was accepted meanwhile.
func mergeAcceptance(kept, stored client.Object) {
	to, ok := kept.(*v1alpha1.Tenant)
	from, isTenant := stored.(*v1alpha1.Tenant)

	if !ok || !isTenant || to.Status.Report == nil || from.Status.Report == nil {
		return
	}

	if from.Status.Report.ObservedAt.Equal(&to.Status.Report.ObservedAt) {
		to.Status.Report = from.Status.Report
		to.SetConditions(from.GetCondition(v1alpha1.TypeReported))
	}
}
