// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// initializer writes the annotations that a Tenant starts a pass with.
type initializer struct{ kube client.Client }

// Initialize names the release as the external name unless there is one, and
// clears the mark of a Create that never returned: its provider died, and what
// it made is found by name.
func (i initializer) Initialize(ctx context.Context, mg resource.Managed) error {
	t, ok := mg.(*v1alpha1.Tenant)
	if !ok {
		return fmt.Errorf("cannot initialize a %T: %w", mg, errNotTenant)
	}

	named, died := meta.GetExternalName(t) != "", meta.ExternalCreateIncomplete(t)
	if named && !died {
		return nil
	}

	if !named {
		meta.SetExternalName(t, namesOf(t).release)
	}

	if died {
		meta.RemoveAnnotations(t, meta.AnnotationKeyExternalCreatePending)
	}

	if err := i.kube.Update(ctx, t); err != nil {
		return fmt.Errorf("cannot write the Tenant's annotations: %w", err)
	}

	return nil
}

// statusKeeper updates critical annotations and keeps the status that Create
// has set, which the API server's answer would otherwise replace. That a report was
// accepted meanwhile is kept too.
type statusKeeper struct{ inner criticalAnnotationUpdater }

type criticalAnnotationUpdater interface {
	UpdateCriticalAnnotations(ctx context.Context, o client.Object) error
}

// UpdateCriticalAnnotations writes the annotations of o and leaves its status as it is.
func (k statusKeeper) UpdateCriticalAnnotations(ctx context.Context, o client.Object) error {
	t, ok := o.(*v1alpha1.Tenant)
	if !ok {
		return fmt.Errorf("cannot update annotations of a %T: %w", o, errNotTenant)
	}

	status := *t.Status.DeepCopy()
	err := k.inner.UpdateCriticalAnnotations(ctx, t)
	stored := t.Status
	t.Status = status

	if has, kept := stored.Report, status.Report; has != nil && kept != nil && has.ObservedAt.Equal(&kept.ObservedAt) {
		t.Status.Report = has
		t.SetConditions(stored.GetCondition(v1alpha1.TypeReported))
	}

	return err
}
