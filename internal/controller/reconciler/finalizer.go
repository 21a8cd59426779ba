// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// Finalizer adds itself without losing the status that Observe has set, and takes
// itself off an object as it is now: the last thing that goes wakes the object
// before the cache has seen the status that the pass before wrote, and a conflict
// would cost a backoff.
type Finalizer struct {
	resource.Finalizer

	// Live reads past the cache.
	Live client.Reader
	// Merge what is stored; nil merges nothing.
	Merge Merge
}

// AddFinalizer adds the finalizer to o, which has it only if it is stored, and leaves its
// status as it is.
func (f Finalizer) AddFinalizer(ctx context.Context, o resource.Object) error {
	had := o.GetFinalizers()

	err := keepStatus(o, f.Merge, func() error { return f.Finalizer.AddFinalizer(ctx, o) })
	if err != nil {
		o.SetFinalizers(had)
	}

	return err
}

// RemoveFinalizer reads o anew when it has changed meanwhile. One that is gone, or
// whose name another took, is a success.
func (f Finalizer) RemoveFinalizer(ctx context.Context, o resource.Object) error {
	uid := o.GetUID()

	return retry.OnError(retry.DefaultRetry, kerrors.IsConflict, func() error {
		err := f.Finalizer.RemoveFinalizer(ctx, o)
		if !kerrors.IsConflict(err) {
			return err
		}

		if gone := f.Live.Get(ctx, client.ObjectKeyFromObject(o), o); gone != nil {
			return client.IgnoreNotFound(gone)
		}

		if o.GetUID() != uid {
			return nil // Another took the name: the one that was meant is gone.
		}

		return err
	})
}

// Merge takes over into an object whose status was kept what must not be lost of
// its status as it is stored.
type Merge func(kept, stored client.Object)

// keepStatus has write write o, and keeps the status that o has.
func keepStatus(o client.Object, merge Merge, write func() error) error {
	kept, ok := o.DeepCopyObject().(client.Object)
	err := write()

	if ok && merge != nil {
		merge(kept, o)
	}

	switch o := o.(type) {
	case *v1alpha1.Tenant:
		if kept, ok := kept.(*v1alpha1.Tenant); ok {
			o.Status = kept.Status
		}
	case *v1alpha1.AdvisorAgent:
		if kept, ok := kept.(*v1alpha1.AdvisorAgent); ok {
			o.Status = kept.Status
		}
	case *v1alpha1.TenantQuota:
		if kept, ok := kept.(*v1alpha1.TenantQuota); ok {
			o.Status = kept.Status
		}
	}

	return err
}
