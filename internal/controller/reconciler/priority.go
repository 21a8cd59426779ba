// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// PollsLast is r with polls of a lower priority than objects that something happened
// to: among many that are well, one that is new or was changed does not queue.
func PollsLast(r reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		out, err := r.Reconcile(ctx, req)
		if out.RequeueAfter > 0 {
			out.Priority = ptr.To(handler.LowPriority)
		}

		return out, err
	})
}
