// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// finalizer takes the finalizer off the Tenant as it is now. The last thing that
// goes wakes the Tenant before the cache has seen the status that the pass
// before wrote, and a conflict would cost a backoff.
type finalizer struct {
	resource.Finalizer

	live   client.Reader
	record event.Recorder
	clock  clock.PassiveClock
	// keep is nil when nothing is reported.
	keep keeper
}

// RemoveFinalizer reads the Tenant anew when it has changed meanwhile.
func (f finalizer) RemoveFinalizer(ctx context.Context, o resource.Object) error {
	if t, ok := o.(*v1alpha1.Tenant); ok {
		if err := f.keepLast(ctx, t); err != nil {
			return err
		}
	}

	uid := o.GetUID()

	return retry.OnError(retry.DefaultRetry, kerrors.IsConflict, func() error {
		err := f.Finalizer.RemoveFinalizer(ctx, o)
		if !kerrors.IsConflict(err) {
			return err
		}

		if gone := f.live.Get(ctx, client.ObjectKeyFromObject(o), o); gone != nil {
			return client.IgnoreNotFound(gone)
		}

		if o.GetUID() != uid {
			return nil // Another took the name: the one that was meant is gone.
		}

		return err
	})
}
