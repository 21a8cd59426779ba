// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Waker has objects looked at for what no watch of their controller tells. It is safe for
// concurrent use, and does nothing before its controller runs.
type Waker struct {
	mu    sync.Mutex
	queue priorityqueue.PriorityQueue[reconcile.Request]
}

// Wake has the object looked at now, whatever backoff it had.
func (w *Waker) Wake(o types.NamespacedName) { w.WakeAfter(o, 0) }

// WakeLast has the object looked at once nothing more urgent waits, whatever backoff it had.
func (w *Waker) WakeLast(o types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.queue == nil {
		return
	}

	r := reconcile.Request{NamespacedName: o}
	w.queue.Forget(r)
	w.queue.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(handler.LowPriority)}, r)
}

// WakeAfter has the object looked at after d.
func (w *Waker) WakeAfter(o types.NamespacedName, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.queue == nil {
		return
	}

	r := reconcile.Request{NamespacedName: o}
	if d <= 0 {
		w.queue.Forget(r)
	}

	w.queue.AddAfter(r, d)
}

// Source is the waker's end in the controller that it wakes.
func (w *Waker) Source() source.Source {
	return source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		w.mu.Lock()
		defer w.mu.Unlock()

		var ok bool
		if w.queue, ok = q.(priorityqueue.PriorityQueue[reconcile.Request]); !ok {
			return fmt.Errorf("cannot wake objects by a %T, which knows no priorities", q)
		}

		return nil
	})
}
