// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package reconcilertest helps to test reconcilers and what wakes them.
package reconcilertest

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Queue keeps what is done to it, in words. Only what is defined here may be called.
type Queue struct {
	priorityqueue.PriorityQueue[reconcile.Request]

	mu   sync.Mutex
	done []string
}

// Forget notes "forget namespace/name".
func (q *Queue) Forget(r reconcile.Request) { q.add("forget " + r.String()) }

// AddAfter notes "after 1s namespace/name".
func (q *Queue) AddAfter(r reconcile.Request, d time.Duration) {
	q.add("after " + d.String() + " " + r.String())
}

// AddWithOpts notes "priority -100 namespace/name".
func (q *Queue) AddWithOpts(o priorityqueue.AddOpts, rs ...reconcile.Request) {
	for _, r := range rs {
		q.add(fmt.Sprintf("priority %d %s", ptr.Deref(o.Priority, 0), r))
	}
}

// Take returns what was done since it was called last.
func (q *Queue) Take() []string {
	q.mu.Lock()
	defer q.mu.Unlock()

	out := q.done
	q.done = nil

	return out
}

func (q *Queue) add(action string) {
	q.mu.Lock()
	defer q.mu.Unlock()

	q.done = append(q.done, action)
}
