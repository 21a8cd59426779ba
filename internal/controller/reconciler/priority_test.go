// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestPollsLast(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		came     reconcile.Result
		err      error
		priority *int
	}{
		"Poll":    {"a poll waits for what is more urgent", reconcile.Result{RequeueAfter: time.Minute}, nil, ptr.To(handler.LowPriority)},
		"Failure": {"what failed keeps the priority that it had", reconcile.Result{}, errInjected, nil},
		"Nothing": {"what is not looked at again has none", reconcile.Result{}, nil, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := PollsLast(reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return tc.came, tc.err }))

			got, err := r.Reconcile(t.Context(), reconcile.Request{})
			if !errors.Is(err, tc.err) || got.RequeueAfter != tc.came.RequeueAfter {
				t.Errorf("%s: %+v, %v", tc.reason, got, err)
			}

			if diff := cmp.Diff(tc.priority, got.Priority); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
