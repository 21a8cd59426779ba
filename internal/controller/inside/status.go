// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// keepStatus has fn write o, and keeps the status that o has, which the API
// server's answer would otherwise replace.
func keepStatus(o client.Object, fn func() error) error {
	was := o.DeepCopyObject()
	err := fn()

	switch o := o.(type) {
	case *v1alpha1.AdvisorAgent:
		if was, ok := was.(*v1alpha1.AdvisorAgent); ok {
			o.Status = was.Status
		}
	case *v1alpha1.TenantQuota:
		if was, ok := was.(*v1alpha1.TenantQuota); ok {
			o.Status = was.Status
		}
	}

	return err
}

// annotationUpdater writes critical annotations and keeps the status that Create
// has set.
type annotationUpdater struct {
	managed.CriticalAnnotationUpdater
}

// UpdateCriticalAnnotations writes the annotations of o and leaves its status as it is.
func (u annotationUpdater) UpdateCriticalAnnotations(ctx context.Context, o client.Object) error {
	return keepStatus(o, func() error { return u.CriticalAnnotationUpdater.UpdateCriticalAnnotations(ctx, o) })
}

// finalizer keeps the status that Observe has set when it adds itself.
type finalizer struct{ resource.Finalizer }

// AddFinalizer adds the finalizer to o and leaves its status as it is.
func (f finalizer) AddFinalizer(ctx context.Context, o resource.Object) error {
	return keepStatus(o, func() error { return f.Finalizer.AddFinalizer(ctx, o) })
}
