// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// watches is a client that can only watch: each call gets the next list of
// events, and no event after the last one.
type watches struct {
	client.WithWatch
	events [][]watch.Event
}

func (w *watches) Watch(context.Context, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
	if len(w.events) == 0 {
		return watch.NewFake(), nil
	}
	next := w.events[0]
	w.events = w.events[1:]
	f := watch.NewFakeWithChanSize(len(next), false)
	for _, e := range next {
		f.Action(e.Type, e.Object)
	}
	if len(w.events) > 0 {
		f.Stop()
	}
	return f, nil
}

func seen(phase v1alpha1.TenantPhase, message string) watch.Event {
	return watch.Event{Type: watch.Modified, Object: &v1alpha1.Tenant{Status: v1alpha1.TenantStatus{Phase: phase, Message: message}}}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	over := errors.New("time is over")
	closed := make(chan error, 1)
	closed <- boom

	cases := map[string]struct {
		reason string
		events [][]watch.Event
		ended  chan error
		limit  time.Duration
		said   []string
		err    error
		text   string
	}{
		"Ready": {
			reason: "Each phase and each message is said once, and Ready is the end.",
			events: [][]watch.Event{{
				seen("Pending", ""), seen("Provisioning", "namespace"), seen("Provisioning", "namespace"), seen("Provisioning", "release"),
				seen("Ready", "done"), seen("Failed", "later"),
			}},
			said: []string{"Pending", "Provisioning  namespace", "Provisioning  release", "Ready         done"},
		},
		"WatchEnds": {
			reason: "Watches end after a while, and what was said is not said again.",
			events: [][]watch.Event{{seen("Pending", "")}, {seen("Pending", ""), seen("Ready", "done")}},
			said:   []string{"Pending", "Ready         done"},
		},
		"FailedAndRecovers": {
			reason: "A failure is tried again, and not the end.",
			events: [][]watch.Event{{seen("Failed", "registry down"), seen("Provisioning", "release"), seen("Ready", "done")}},
			said:   []string{"Failed        registry down", "Provisioning  release", "Ready         done"},
		},
		"Deleted": {
			reason: "Nobody waits for what is gone.",
			events: [][]watch.Event{{{Type: watch.Deleted, Object: &v1alpha1.Tenant{}}}},
			text:   "the Tenant was deleted",
		},
		"ProviderEnds": {
			reason: "Nobody waits for a provider that is gone.",
			ended:  closed,
			err:    boom,
		},
		"TimeIsOver": {
			reason: "The reason is that of the context.",
			events: [][]watch.Event{{seen("Provisioning", "release")}},
			limit:  50 * time.Millisecond,
			said:   []string{"Provisioning  release"},
			err:    over,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := 20 * time.Second
			if tc.limit > 0 {
				limit = tc.limit
			}
			ctx, cancel := context.WithTimeoutCause(t.Context(), limit, over)
			defer cancel()
			var said []string
			say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }

			err := follow(ctx, &watches{events: tc.events}, &v1alpha1.Tenant{}, &provider{ended: tc.ended}, say)
			switch {
			case tc.text != "":
				if err == nil || !strings.Contains(err.Error(), tc.text) {
					t.Errorf("%s\nfollow(...): want %q, got %v", tc.reason, tc.text, err)
				}
			case !errors.Is(err, tc.err):
				t.Errorf("%s\nfollow(...): want %v, got %v", tc.reason, tc.err, err)
			}
			if diff := cmp.Diff(tc.said, said); diff != "" {
				t.Errorf("%s\n-want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFailedForLong(t *testing.T) {
	t.Parallel()
	f := &follower{tenant: &v1alpha1.Tenant{}, say: func(string, ...any) {}, failed: time.NewTimer(time.Hour)}
	f.failed.Stop()

	f.see(seen("Failed", "one").Object.(*v1alpha1.Tenant))
	if !f.failed.Stop() {
		t.Error("The time runs from the moment that a Tenant is Failed.")
	}
	f.see(seen("Failed", "two").Object.(*v1alpha1.Tenant))
	if f.failed.Stop() {
		t.Error("Another message does not begin the time anew.")
	}
	f.see(seen("Provisioning", "").Object.(*v1alpha1.Tenant))
	f.see(seen("Failed", "three").Object.(*v1alpha1.Tenant))
	f.see(seen("Provisioning", "").Object.(*v1alpha1.Tenant))
	if f.failed.Stop() {
		t.Error("Who is no longer Failed has no time running.")
	}

	f.failed.Reset(0)
	_, err := f.drain(t.Context(), watch.NewFake(), &provider{})
	if err == nil || !strings.Contains(err.Error(), "Failed for 1m0s") {
		t.Errorf("After that time the demo gives up, got %v", err)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	tenant := &v1alpha1.Tenant{}
	tenant.Status.Phase, tenant.Status.Message = "Failed", "the registry does not answer"
	tenant.SetConditions(xpv2.Condition{Type: "ReleaseDeployed", Status: "False", Reason: "Failed", Message: "dial tcp", LastTransitionTime: metav1.Now()})

	lines := strings.Split(describe(tenant), "\n")
	words := strings.Fields(lines[len(lines)-1])
	if want := []string{"ReleaseDeployed", "False", "Failed", "dial", "tcp"}; lines[0] != "phase Failed: the registry does not answer" || !slices.Equal(words, want) {
		t.Errorf("All that the Tenant says is there, got %q", lines)
	}
}
