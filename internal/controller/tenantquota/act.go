// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantquota

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
)

// Create puts the quota in place.
func (e *external) Create(ctx context.Context, q *v1alpha1.TenantQuota) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, e.act(ctx, q)
}

// Update brings what is there to what is wanted.
func (e *external) Update(ctx context.Context, q *v1alpha1.TenantQuota) (managed.ExternalUpdate, error) {
	return managed.ExternalUpdate{}, e.act(ctx, q)
}

// act writes what Observe saw missing or different, removes what strayed, looks
// again and writes what came of it into the status. It waits for nothing.
func (e *external) act(ctx context.Context, q *v1alpha1.TenantQuota) error {
	failed := e.write(ctx, q)
	if err := e.Remove(ctx, e.seen.strays); failed == nil {
		failed = err
	}

	if failed != nil {
		e.report(q, failed)
		return failed
	}

	f, err := e.gather(ctx, q)
	if err != nil {
		e.reportUnknown(q, err)
		return err
	}

	e.seen = f
	e.report(q, nil)

	return nil
}

// write goes through all namespaces; one that refuses does not keep the others
// from their quota. The error is the first.
func (e *external) write(ctx context.Context, q *v1alpha1.TenantQuota) error {
	var failed error

	for _, r := range e.seen.rooms {
		if r.goingAway() || r.inPlace() {
			continue
		}

		if err := e.furnish(ctx, q, r); err != nil && failed == nil {
			failed = err
		}
	}

	return failed
}

func (e *external) furnish(ctx context.Context, q *v1alpha1.TenantQuota, r foundRoom) error {
	if !r.complete() && r.namespace.Live == nil {
		bounded, cancel := e.Bounded(ctx)
		defer cancel()

		if err := inside.CreateNamespace(bounded, e.Way.API.Live, r.namespace.Want); err != nil {
			return err
		}
	}

	return e.Write(ctx, q, r.objects)
}
