// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

func TestPaced(t *testing.T) {
	t.Parallel()

	poll := reconcile.Result{RequeueAfter: time.Minute}
	again := reconcile.Result{Requeue: true} //nolint:staticcheck // The runtime says it so.
	conflict := kerrors.NewConflict(schema.GroupResource{Resource: "tenants"}, "o", errInjected)
	cases := map[string]struct {
		reason string
		came   reconcile.Result
		err    error
		// met says that the pass met a conflict.
		met  bool
		want reconcile.Result
		// fails says that the error is passed on.
		fails bool
	}{
		"Poll":           {"a poll waits for what is more urgent", poll, nil, false, reconcile.Result{RequeueAfter: time.Minute, Priority: ptr.To(handler.LowPriority)}, false},
		"Failure":        {"what failed in a poll is urgent from then on", reconcile.Result{}, errInjected, false, reconcile.Result{Priority: ptr.To(0)}, true},
		"FailedPoll":     {"whatever else is said of it", poll, errInjected, false, reconcile.Result{RequeueAfter: time.Minute, Priority: ptr.To(0)}, true},
		"Nothing":        {"what is not looked at again waits for nothing", reconcile.Result{}, nil, false, reconcile.Result{Priority: ptr.To(0)}, false},
		"Again":          {"what asks for a backoff gets it", again, nil, false, reconcile.Result{Requeue: true, Priority: ptr.To(0)}, false}, //nolint:staticcheck // As above.
		"Conflict":       {"who was faster is seen soon, before any poll", again, nil, true, reconcile.Result{RequeueAfter: conflictPause, Priority: ptr.To(0)}, false},
		"ConflictError":  {"also if the pass says so", poll, fmt.Errorf("wrapped: %w", conflict), true, reconcile.Result{RequeueAfter: conflictPause, Priority: ptr.To(0)}, false},
		"OtherConflict":  {"one of anything else is a failure", reconcile.Result{}, conflict, false, reconcile.Result{Priority: ptr.To(0)}, true},
		"FailedConflict": {"a failure that met one as well is a failure", reconcile.Result{}, errInjected, true, reconcile.Result{Priority: ptr.To(0)}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := Paced(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
				if tc.met {
					meetConflict(ctx)
				}

				return tc.came, tc.err
			}))

			got, err := r.Reconcile(t.Context(), reconcile.Request{})
			if (err != nil) != tc.fails || (tc.fails && !errors.Is(err, tc.err)) {
				t.Errorf("%s: %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestConflictIsMet holds that a status that meets a conflict is known to its pass, and
// another failure is none.
func TestConflictIsMet(t *testing.T) {
	t.Parallel()

	resource := schema.GroupResource{Resource: "tenants"}
	for reason, tc := range map[string]struct {
		refuse error
		want   bool
	}{
		"someone was faster": {kerrors.NewConflict(resource, "o", errInjected), true},
		"a failure":          {errInjected, false},
		"written":            {nil, false},
	} {
		c, quiet := newCached(t)
		c.refuse = tc.refuse
		tn := read(t, quiet, &v1alpha1.Tenant{ObjectMeta: identity})
		tn.SetConditions(xpv2.ReconcileSuccess())

		met := false
		if err := quiet.Status().Update(context.WithValue(t.Context(), conflictKey{}, &met), tn); !errors.Is(err, tc.refuse) || met != tc.want {
			t.Errorf("%s: met: %t, %v", reason, met, err)
		}

	}
}
