// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

func TestUnknown(t *testing.T) {
	t.Parallel()

	ready, creating := xpv2.Available(), xpv2.Creating()

	cases := map[string]struct {
		reason string
		was    xpv2.Condition
		err    error
		want   xpv2.ConditionReason // Empty when the condition stays.
		says   string
	}{
		"WasReady":      {"not to know is no change", ready, insidetest.ErrInjected, "", "all well when it was last seen, and cannot be looked at now: injected failure"},
		"WasReadyWaits": {"whatever the reason", ready, errUnreachable, "", "cannot be looked at now"},
		"NoTenant":      {"unless it cannot be ready", ready, errNoTenant, xpv2.ReasonUnavailable, errNoTenant.Error()},
		"Going":         {"since all goes", ready, errTenantDeleting, xpv2.ReasonUnavailable, errTenantDeleting.Error()},
		"Conflict":      {"since it is someone else's", ready, ErrConflict, v1alpha1.ReasonConflict, ErrConflict.Error()},
		"Waiting":       {"what was not Ready waits", creating, errNoKubeconfig, xpv2.ReasonCreating, "waiting for the Tenant: there is no kubeconfig yet"},
		"Failing":       {"or has failed", creating, insidetest.ErrInjected, xpv2.ReasonUnavailable, "injected failure"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := Unknown(tc.was, "all well", tc.err)
			if (s.Ready == nil) != (tc.want == "") || (s.Ready != nil && s.Ready.Reason != tc.want) || !strings.Contains(s.Message, tc.says) {
				t.Errorf("%s: %+v, %q", tc.reason, s.Ready, s.Message)
			}

			if s.Ready != nil && s.Ready.Message != s.Message {
				t.Errorf("%s: two messages: %q and %q", tc.reason, s.Ready.Message, s.Message)
			}
		})
	}
}

// TestSettle holds that times move with the status only, and that a condition that
// is kept is kept with the generation that it is about.
func TestSettle(t *testing.T) {
	t.Parallel()

	clk := clocktesting.NewFakePassiveClock(insidetest.Epoch)
	p := Pass{Controller: Controller{Clock: clk}}
	a := insidetest.Agent("a")
	pass := func(s Summary) xpv2.Condition {
		p.settle(a, a.GetCondition(xpv2.TypeReady), s)
		clk.SetTime(clk.Now().Add(time.Minute))

		return a.GetCondition(xpv2.TypeReady)
	}

	first := pass(Creating("one"))
	if first.Message != "one" || !first.LastTransitionTime.Equal(&metav1.Time{Time: insidetest.Epoch}) || first.ObservedGeneration != 1 {
		t.Errorf("first: %+v", first)
	}

	if second := pass(Creating("two")); second.Message != "two" || !second.LastTransitionTime.Equal(&first.LastTransitionTime) {
		t.Errorf("the status is the same, but not the time: %+v", second)
	}

	ready := pass(Available("well", nil))
	if ready.Status != corev1.ConditionTrue || ready.LastTransitionTime.Equal(&first.LastTransitionTime) || a.Status.Message != "well" {
		t.Errorf("ready: %+v", ready)
	}

	a.SetGeneration(2)

	if kept := pass(Unknown(ready, "well", insidetest.ErrInjected)); kept != ready || !strings.Contains(a.Status.Message, "injected failure") {
		t.Errorf("kept: %+v, %q", kept, a.Status.Message)
	}

	if got := a.Status.GetObservedGeneration(); got != 1 {
		t.Errorf("the status is about generation %d, which nobody has looked at", got)
	}

	if c := pass(Unavailable(strings.Repeat("ü", 3000))); len(c.Message) > 4096 || !utf8.ValidString(c.Message) ||
		!strings.HasSuffix(c.Message, "...") || a.Status.Message != c.Message {
		t.Errorf("a long message: %d bytes", len(c.Message))
	}

	runtimes := xpv2.Deleting().WithObservedGeneration(a.GetGeneration())
	if c := pass(deleting("waiting")); !c.Equal(runtimes) || a.Status.Message != "waiting" {
		t.Errorf("it takes turns with the condition of the runtime: %+v, %q", c, a.Status.Message)
	}

	if c := pass(Unavailable("bad \xff byte")); c.Message != "bad  byte" {
		t.Errorf("what is no text: %q", c.Message)
	}
}
