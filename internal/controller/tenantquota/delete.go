// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantquota

import (
	"context"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
)

// observeDeletion says that the TenantQuota exists as long as anything is left of
// it, or could not be looked at, unless it may go all the same.
func (e *external) observeDeletion(ctx context.Context, q *v1alpha1.TenantQuota) (managed.ExternalObservation, error) {
	left, err := e.readRemains(ctx, q)

	gone, waitsFor := e.Depart(q, left, err, mayBeLeft(q))
	if gone {
		return managed.ExternalObservation{}, nil
	}

	e.left = left
	e.settle(q, inside.Deleting(waitsFor))

	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, err
}

// readRemains finds everything that is the TenantQuota's, whatever namespaces its
// spec names now, in the order in which it is to go: quotas first.
func (e *external) readRemains(ctx context.Context, q *v1alpha1.TenantQuota) ([]*unstructured.Unstructured, error) {
	if e.NoWay != nil {
		return nil, e.NoWay
	}

	ctx, cancel := e.Bounded(ctx)
	defer cancel()

	return inside.OwnerOf(q, e.Way.Tenant).Made(ctx, e.Way.API.Live, name, "ResourceQuota", "LimitRange")
}

// mayBeLeft names what was made when it cannot be looked at.
func mayBeLeft(q *v1alpha1.TenantQuota) []string {
	namespaces := slices.Concat(namespacesOf(q), q.Status.Namespaces)
	slices.Sort(namespaces)

	return []string{"ResourceQuota and LimitRange " + name + " in " + strings.Join(slices.Compact(namespaces), ", ")}
}

// Delete asks for the deletion of what is left. Namespaces stay.
func (e *external) Delete(ctx context.Context, q *v1alpha1.TenantQuota) (managed.ExternalDelete, error) {
	err := e.Remove(ctx, e.left)
	if err != nil {
		e.settle(q, inside.Deleting(err.Error()))
	}

	return managed.ExternalDelete{}, err
}
