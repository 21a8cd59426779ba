// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantapi

import (
	"context"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// followFor is how long one watch lasts. Who still waits then asks for another.
const followFor = 5 * time.Minute

// followers are the watches that are open inside one vCluster, by namespace.
type followers struct {
	mu      sync.Mutex
	stopped bool
	open    map[string]*follower
}

type follower struct{ cancel context.CancelFunc }

// Follow tells notify of each change of a Deployment in the namespace of the
// vCluster, for some minutes, so that who waits for one learns of it at once. It
// does nothing when that namespace is followed already. A watch that cannot be
// had is no error: the poll looks as well.
func (a *API) Follow(namespace string, notify func()) {
	f := &a.followers

	f.mu.Lock()
	defer f.mu.Unlock()

	if f.open[namespace] != nil || f.stopped {
		return
	}

	if f.open == nil {
		f.open = map[string]*follower{}
	}

	ctx, cancel := context.WithTimeout(context.Background(), followFor)
	w := &follower{cancel: cancel}
	f.open[namespace] = w

	go func() {
		follow(ctx, a.Live, namespace, notify)
		f.end(namespace, w)
	}()
}

// Unfollow ends what Follow began.
func (a *API) Unfollow(namespace string) {
	a.followers.end(namespace, nil)
}

// end the watch of a namespace, if it is still this one; nil is any.
func (f *followers) end(namespace string, which *follower) {
	f.mu.Lock()
	defer f.mu.Unlock()

	w := f.open[namespace]
	if w == nil || (which != nil && w != which) {
		return
	}

	w.cancel()
	delete(f.open, namespace)
}

func (f *followers) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.stopped = true

	for _, w := range f.open {
		w.cancel()
	}
}

func follow(ctx context.Context, c client.WithWatch, namespace string, notify func()) {
	w, err := c.Watch(ctx, &appsv1.DeploymentList{}, client.InNamespace(namespace))
	if err != nil {
		return
	}
	defer w.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-w.ResultChan():
			if !ok {
				return
			}

			if e.Type == watch.Added || e.Type == watch.Modified || e.Type == watch.Deleted {
				notify()
			}
		}
	}
}
