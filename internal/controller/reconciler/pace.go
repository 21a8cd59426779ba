// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// conflictPause is how long after a conflict a pass is repeated: the cache has the other
// write by then.
const conflictPause = 100 * time.Millisecond

// Paced is r with polls of a lower priority than objects that something happened to: among
// many that are well, one that is new, was changed or has failed does not queue. A pass
// whose status met the write of someone else, by a client of [WithoutIdleWrites], is
// repeated at once and not after a backoff: nothing failed.
func Paced(r reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		met := false

		out, err := r.Reconcile(context.WithValue(ctx, conflictKey{}, &met), req)

		switch {
		case met && (err == nil || kerrors.IsConflict(err)):
			return reconcile.Result{RequeueAfter: conflictPause, Priority: ptr.To(0)}, nil
		case err == nil && out.RequeueAfter > 0:
			out.Priority = ptr.To(handler.LowPriority)
		default:
			out.Priority = ptr.To(0)
		}

		return out, err
	})
}

// conflictKey is where the context of a pass keeps whether it met a conflict.
type conflictKey struct{}

// meetConflict says that the pass met one.
func meetConflict(ctx context.Context) {
	if met, ok := ctx.Value(conflictKey{}).(*bool); ok {
		*met = true
	}
}
