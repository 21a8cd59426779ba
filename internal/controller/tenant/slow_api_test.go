// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/glance"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
)

// hastyPool gives an API up sooner than a real one, but no sooner than a connection to
// it is made.
func hastyPool() *tenantapi.Pool {
	p := tenantapi.NewPool()
	p.ProbeTimeout = 300 * time.Millisecond

	return p
}

// TestR6APIAnswersAfter12Seconds holds that a Ready Tenant whose API takes 12 s is told
// to be degraded, in words and once, and not Failed; that no pass waits for it or does
// anything about it; and that it is Ready again once the API answers in time.
func TestR6APIAnswersAfter12Seconds(t *testing.T) {
	t.Parallel()

	w, tn, s := newWorld(t), alice().Obj(), newTenantServer(t)
	c := &connector{tenants: tenantapi.NewPool()}
	w.probe = func(ctx context.Context, _ *rest.Config) error {
		in, err := c.opener(tn, &glance.Look{})(s.kubeconfig(t))
		if err != nil {
			return err
		}

		return in.probe(ctx)
	}
	w.arrive(tn)

	// Long after the release was made what is gone of it would be repaired.
	w.clock.SetTime(epoch.Add(time.Hour))
	s.after.Store(int64(12 * time.Second))

	if waits := c.tenants.ProbeTimeout; waits > 6*time.Second {
		t.Errorf("a pass waits %s for the API", waits)
	}

	c.tenants = hastyPool()

	var first *v1alpha1.TenantStatus

	for range 3 {
		begin := time.Now()
		w.mustPass(tn)

		if took := time.Since(begin); took > 11*time.Second {
			t.Errorf("a pass waited %s for the API", took)
		}

		api := tn.GetCondition(v1alpha1.TypeAPIReachable)
		if tn.Status.Phase != v1alpha1.PhaseProvisioning || tn.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue ||
			api.Reason != v1alpha1.ReasonProgressing || !strings.Contains(tn.Status.Message, "the tenant's API at") {
			t.Fatalf("%s: %s; %s", tn.Status.Phase, tn.Status.Message, api.Message)
		}

		if first == nil {
			first = tn.Status.DeepCopy()
		} else if diff := cmp.Diff(written(t, first), written(t, &tn.Status)); diff != "" {
			t.Errorf("the status moves: %s", diff)
		}

		w.clock.SetTime(w.clock.Now().Add(15 * time.Second))
	}

	if got := w.journal.take(); len(got) > 0 {
		t.Errorf("something was done about it: %v", got)
	}

	s.after.Store(0)

	c.tenants = tenantapi.NewPool()
	w.mustPass(tn)

	want := []event.Reason{event.Reason(v1alpha1.PhaseProvisioning), event.Reason(v1alpha1.PhaseReady)}
	if diff := cmp.Diff(want, w.events.reasons()); diff != "" || tn.Status.Phase != v1alpha1.PhaseReady {
		t.Errorf("%s: %s; events: -want, +got:\n%s", tn.Status.Phase, tn.Status.Message, diff)
	}

	if got := w.journal.take(); len(got) > 0 {
		t.Errorf("something was done: %v", got)
	}
}
