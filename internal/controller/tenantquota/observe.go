// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantquota

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
)

// Observe finds out what is there, writes it into the status and says what
// follows. It changes nothing inside the vCluster.
func (e *external) Observe(ctx context.Context, q *v1alpha1.TenantQuota) (managed.ExternalObservation, error) {
	if meta.WasDeleted(q) {
		return e.observeDeletion(ctx, q)
	}

	f, err := e.gather(ctx, q)
	if inside.IsWaiting(err) {
		e.reportUnknown(q, err)
		// There is nothing to do but to wait.
		return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
	}

	if err != nil {
		e.reportUnknown(q, err)
		return managed.ExternalObservation{}, err
	}

	e.seen = f
	e.report(q, nil)

	return managed.ExternalObservation{
		ResourceExists:   f.exists(inside.OwnerOf(q, e.Way.Tenant)),
		ResourceUpToDate: f.settled(),
	}, nil
}

// report settles the status on what was seen.
func (e *external) report(q *v1alpha1.TenantQuota, failed error) {
	q.Status.Namespaces = e.seen.held()
	e.settle(q, summarize(e.seen, failed))
}

func (e *external) reportUnknown(q *v1alpha1.TenantQuota, err error) {
	e.settle(q, inside.Unknown(e.before.GetCondition(xpv2.TypeReady), messageReady, err))
}

func (e *external) settle(q *v1alpha1.TenantQuota, s inside.Summary) {
	if s.Ready != nil {
		q.Status.SetObservedGeneration(q.GetGeneration())
	}

	q.Status.Message = e.Settle(q, e.before.GetCondition(xpv2.TypeReady), s)
}
