// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"
)

var errBoom = errors.New("boom")

// access answers access reviews.
type access struct {
	authorizationv1client.SelfSubjectAccessReviewInterface
	allow func(context.Context, Right) (bool, error)
}

func (a access) Create(ctx context.Context, r *authorizationv1.SelfSubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SelfSubjectAccessReview, error) {
	q := r.Spec.ResourceAttributes
	var err error
	r.Status.Allowed, err = a.allow(ctx, Right{
		Verb: q.Verb, Group: q.Group, Resource: q.Resource, Subresource: q.Subresource, Name: q.Name, Namespace: q.Namespace,
	})
	return r, err
}

func some() []Right {
	return []Right{
		{Verb: "get", Resource: "pods"},
		{Verb: "update", Group: "kubeopera.io", Resource: "tenants", Subresource: "status"},
		{Verb: "get", Resource: "secrets", Name: "a", Namespace: "b"},
	}
}

func needed(context.Context) ([]Right, error) { return some(), nil }

func TestMissing(t *testing.T) {
	t.Parallel()
	for i, lacks := range some() {
		r := &Review{access: access{allow: func(_ context.Context, r Right) (bool, error) { return r != lacks, nil }}}
		got, err := r.Missing(t.Context(), some())
		if diff := cmp.Diff([]Right{lacks}, got); diff != "" || err != nil {
			t.Errorf("Exactly what is asked for, with all of its parts, is missing.\n%d: Missing(...): %v, -want, +got:\n%s", i, err, diff)
		}
	}
	r := &Review{access: access{allow: func(context.Context, Right) (bool, error) { return true, errBoom }}}
	if _, err := r.Missing(t.Context(), some()); !errors.Is(err, errBoom) {
		t.Errorf("A question without an answer is no answer: want %v, got %v", errBoom, err)
	}
}

func TestMissingIsBounded(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int64
	full := make(chan struct{})
	r := &Review{access: access{allow: func(context.Context, Right) (bool, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		if n == parallel {
			close(full)
		}
		<-full
		return true, nil
	}}}
	many := make([]Right, 3*parallel)
	for i := range many {
		many[i].Verb = string(rune('a' + i))
	}
	// With fewer at once this would not end.
	if _, err := r.Missing(t.Context(), many[:parallel]); err != nil {
		t.Fatalf("Missing(...): %v", err)
	}
	full = make(chan struct{})
	close(full)
	r.access = access{allow: func(context.Context, Right) (bool, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		return true, nil
	}}
	if _, err := r.Missing(t.Context(), many); err != nil {
		t.Fatalf("Missing(...): %v", err)
	}
	if most.Load() != parallel {
		t.Errorf("want at most %d questions at once, got %d", parallel, most.Load())
	}
}

func TestAwait(t *testing.T) {
	t.Parallel()
	looks, told := 0, []string{}
	r := &Review{interval: time.Microsecond, access: access{allow: func(_ context.Context, r Right) (bool, error) {
		if looks == 2 && r.Verb == "update" {
			return false, errBoom
		}
		return looks > 3 || r.Resource != "pods", nil
	}}}
	err := r.Await(t.Context(), func(ctx context.Context) ([]Right, error) {
		if looks++; looks == 1 {
			return nil, errors.New("nothing is known")
		}
		return needed(ctx)
	}, func(err error) { told = append(told, err.Error()) })
	if err != nil {
		t.Fatalf("Await(...): %v", err)
	}
	want := []string{
		"nothing is known",
		"cannot ask the cluster for the right to update tenants.kubeopera.io/status: boom",
		"missing rights: get pods",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("Each look that fails is told, and what to ask for is asked anew: -want, +got:\n%s", diff)
	}
}

func TestAwaitEnds(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	r := &Review{interval: time.Hour, access: access{allow: func(ctx context.Context, _ Right) (bool, error) { stop(); return false, ctx.Err() }}}
	err := r.Await(ctx, needed, func(err error) { t.Errorf("A provider that is told to stop lacks nothing: told %v", err) })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Await(...): want %v, got %v", context.Canceled, err)
	}
}
