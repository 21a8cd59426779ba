// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// followAgain is the pause before a watch is begun anew.
const followAgain = 50 * time.Millisecond

// Follow hands each object of the kind to fn as it is and as it changes, until ctx ends.
// What fn could not do is tried again.
func Follow(ctx context.Context, c client.WithWatch, l client.ObjectList, fn func(context.Context, client.Object) error, opts ...client.ListOption) {
	for ; ctx.Err() == nil; Sleep(ctx, followAgain) {
		w, err := c.Watch(ctx, l, opts...)
		if err != nil {
			continue
		}

		for e := range w.ResultChan() {
			o, ok := e.Object.(client.Object)
			if !ok {
				break
			}

			if err := fn(ctx, o); client.IgnoreNotFound(err) != nil && !kerrors.IsConflict(err) && ctx.Err() == nil {
				break
			}
		}

		w.Stop()
	}
}
