// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// gatherTime is how long a configuration waits for more news of its usages before it
// counts them all: of a thousand Tenants that come at once, each would have all counted.
const gatherTime = time.Second

// queue is what an event handler adds to.
type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// gatheringQueue has what is added wait, together with what is added of the same meanwhile.
type gatheringQueue struct{ queue }

// Add r after gatherTime.
func (q gatheringQueue) Add(r reconcile.Request) { q.AddAfter(r, gatherTime) }

// gathering is h with what it adds gathered.
func gathering(h handler.EventHandler) handler.EventHandler {
	return handler.Funcs{
		CreateFunc:  func(ctx context.Context, e event.CreateEvent, q queue) { h.Create(ctx, e, gatheringQueue{q}) },
		UpdateFunc:  func(ctx context.Context, e event.UpdateEvent, q queue) { h.Update(ctx, e, gatheringQueue{q}) },
		DeleteFunc:  func(ctx context.Context, e event.DeleteEvent, q queue) { h.Delete(ctx, e, gatheringQueue{q}) },
		GenericFunc: func(ctx context.Context, e event.GenericEvent, q queue) { h.Generic(ctx, e, gatheringQueue{q}) },
	}
}
