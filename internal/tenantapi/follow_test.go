// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantapi

import (
	"context"
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// opened is a watch that was opened.
type opened struct {
	*watch.FakeWatcher

	ctx       context.Context //nolint:containedctx // It is what is tested.
	namespace string
}

// following is an API whose watches the test serves.
func following(t *testing.T, refuse error) (*API, <-chan opened) {
	t.Helper()

	all := make(chan opened, 10)
	c := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).Build(), interceptor.Funcs{
		Watch: func(ctx context.Context, _ client.WithWatch, l client.ObjectList, opts ...client.ListOption) (watch.Interface, error) {
			if _, ok := l.(*appsv1.DeploymentList); !ok {
				t.Errorf("it watches %T", l)
			}

			o := opened{FakeWatcher: watch.NewFake(), ctx: ctx, namespace: (&client.ListOptions{}).ApplyOptions(opts).Namespace}
			all <- o

			return o, refuse
		},
	})

	return &API{Live: c}, all
}

func deployment() *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "d"}}
}

// within waits for something.
func within[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()

	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("nothing came: %s", what)
		panic("unreachable")
	}
}

// awaitOpen waits until so many namespaces are followed.
func awaitOpen(t *testing.T, a *API, n int) {
	t.Helper()

	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, patience, true, func(context.Context) (bool, error) {
		a.followers.mu.Lock()
		defer a.followers.mu.Unlock()

		return len(a.followers.open) == n, nil
	})
	if err != nil {
		t.Fatalf("it is not %d that are followed: %v", n, err)
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()

	a, watches := following(t, nil)
	news := make(chan struct{}, 10)

	a.Follow("n", func() { news <- struct{}{} })

	w := within(t, watches, "a watch")
	if w.namespace != "n" {
		t.Errorf("it watches namespace %q", w.namespace)
	}

	a.Follow("n", func() { t.Error("who came second was told") })

	w.Add(deployment())
	within(t, news, "one was made")
	w.Modify(deployment())
	within(t, news, "one changed")
	w.Action(watch.Bookmark, deployment())
	w.Error(&metav1.Status{})
	w.Delete(deployment())
	within(t, news, "one is gone")

	if len(news) > 0 {
		t.Error("something was told that is no change")
	}

	if len(watches) > 0 {
		t.Error("it was followed twice")
	}

	if end, ok := w.ctx.Deadline(); !ok || time.Until(end) > followFor {
		t.Errorf("the watch ends at %s", end)
	}

	a.Follow("other", func() {})

	if o := within(t, watches, "a watch"); o.namespace != "other" {
		t.Errorf("it watches namespace %q", o.namespace)
	}

	a.Unfollow("n")
	a.Unfollow("nobody")
	within(t, w.ctx.Done(), "the watch ends")
	awaitOpen(t, a, 1)
	a.Follow("n", func() { news <- struct{}{} })

	w = within(t, watches, "another watch")
	w.Add(deployment())
	within(t, news, "one was made")
}

// TestFollowEnds holds that who is no longer followed can be followed again.
func TestFollowEnds(t *testing.T) {
	t.Parallel()

	a, watches := following(t, nil)

	for range 3 { // The API server ends it.
		a.Follow("n", func() {})
		within(t, watches, "a watch").Stop()
		awaitOpen(t, a, 0)
	}

	a, watches = following(t, errors.New("refused"))

	for range 3 {
		a.Follow("n", func() {})
		within(t, watches, "a watch")
		awaitOpen(t, a, 0)
	}
}

// TestFollowClosed holds that what was dropped is not followed any more.
func TestFollowClosed(t *testing.T) {
	t.Parallel()

	a, watches := following(t, nil)
	a.Follow("n", func() {})
	w := within(t, watches, "a watch")

	a.followers.stop()
	within(t, w.ctx.Done(), "the watch ends")
	awaitOpen(t, a, 0)

	a.Follow("n", func() {})

	if len(watches) > 0 {
		t.Error("it is followed again")
	}
}
