// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisoragent

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/advisor"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
)

// observeDeletion says that the AdvisorAgent exists as long as anything is left of
// it, or could not be looked at, unless it may go all the same.
func (e *external) observeDeletion(ctx context.Context, a *v1alpha1.AdvisorAgent) (managed.ExternalObservation, error) {
	left, err := e.readRemains(ctx, a)

	gone, waitsFor := e.Depart(a, left, err,
		[]string{"ClusterRoleBinding " + advisor.Name, "ClusterRole " + advisor.Name, "Namespace " + advisor.Namespace})
	if gone {
		return managed.ExternalObservation{}, nil
	}

	e.left = left
	e.settle(a, inside.Deleting(waitsFor))

	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, err
}

// readRemains looks for everything that the AdvisorAgent may have made and that
// is still its own, in the order in which it is to go. The namespace is the last.
func (e *external) readRemains(ctx context.Context, a *v1alpha1.AdvisorAgent) ([]*unstructured.Unstructured, error) {
	if e.NoWay != nil {
		return nil, e.NoWay
	}

	ctx, cancel := e.Bounded(ctx)
	defer cancel()

	owner := inside.OwnerOf(a, e.Way.Tenant)

	want, err := desire(owner, a.Spec.AdvisorSettings)
	if err != nil {
		return nil, err
	}

	found, err := inside.Find(ctx, e.Way.API.Live, want)
	if err != nil {
		return nil, err
	}

	return owner.Remains(found), nil
}

// Delete asks for the deletion of what is left.
func (e *external) Delete(ctx context.Context, a *v1alpha1.AdvisorAgent) (managed.ExternalDelete, error) {
	e.Way.API.Unfollow(advisor.Namespace)

	err := e.Remove(ctx, e.left)
	if err != nil {
		e.settle(a, inside.Deleting(err.Error()))
	}

	return managed.ExternalDelete{}, err
}
