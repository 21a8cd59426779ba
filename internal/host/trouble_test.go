// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// TestLastingTrouble holds that a cache which is not kept up to date is not read, and
// that what passes by itself is no reason for that.
func TestLastingTrouble(t *testing.T) {
	t.Parallel()

	const often = 30 * time.Second

	cases := map[string]struct {
		reason string
		// errors are when a watch failed, and asked is when the cache is read.
		errors []time.Duration
		asked  time.Duration
		want   bool
	}{
		"None":       {reason: "all is watched", asked: time.Hour},
		"Restart":    {reason: "a host that starts anew", errors: []time.Duration{0, often, 2 * often}, asked: 3 * often},
		"Lasting":    {reason: "a right was taken away", errors: every(often, lastingAfter), asked: lastingAfter, want: true},
		"Until":      {reason: "the next try is due", errors: every(often, lastingAfter), asked: lastingAfter + quietAfter, want: true},
		"Over":       {reason: "no error any more", errors: every(often, lastingAfter), asked: lastingAfter + quietAfter + time.Second},
		"NowAndThen": {reason: "each was over before the next", errors: every(quietAfter+time.Second, 10*lastingAfter), asked: 10 * lastingAfter},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			clk := clocktesting.NewFakePassiveClock(epoch)
			trouble := newTrouble(clk)
			r := watchedReader{fake.NewClientBuilder().WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}).Build(), trouble}

			for _, at := range tc.errors {
				clk.SetTime(epoch.Add(at))
				trouble.handle(t.Context(), nil, errInjected)
			}

			clk.SetTime(epoch.Add(tc.asked))

			for what, err := range map[string]error{
				"get":  r.Get(t.Context(), client.ObjectKey{Name: "n"}, &corev1.Namespace{}),
				"list": r.List(t.Context(), &corev1.NamespaceList{}),
			} {
				told := errors.Is(err, ErrUnreachable) && errors.Is(err, errInjected) && strings.Contains(err.Error(), epoch.Format(time.RFC3339))
				if told != tc.want || (!tc.want && err != nil) {
					t.Errorf("%s: %s: %v", tc.reason, what, err)
				}
			}
		})
	}
}

// every is from 0 until the end, so often.
func every(d, end time.Duration) []time.Duration {
	var out []time.Duration
	for at := time.Duration(0); at <= end; at += d {
		out = append(out, at)
	}

	return out
}

// TestManyShortTroubles holds that the troubles of several kinds, each of which was over
// before the next, are no lasting one: API servers that are restarted one after the other
// fail one list here and one there, and every kind is up to date.
func TestManyShortTroubles(t *testing.T) {
	t.Parallel()

	clk := clocktesting.NewFakePassiveClock(epoch)
	trouble := newTrouble(clk)

	for i := range len(watched()) {
		clk.SetTime(epoch.Add(time.Duration(i) * 40 * time.Second))
		trouble.handle(t.Context(), &toolscache.Reflector{}, errInjected)
	}

	if err := trouble.lasting(); err != nil {
		t.Errorf("each kind failed once: %v", err)
	}
}

// TestFirstLastingTrouble holds that of several it is the same that is told each time.
func TestFirstLastingTrouble(t *testing.T) {
	t.Parallel()

	clk := clocktesting.NewFakePassiveClock(epoch)
	trouble := newTrouble(clk)
	kinds := []*toolscache.Reflector{{}, {}, {}}

	for _, at := range every(30*time.Second, 2*lastingAfter) {
		for i, r := range kinds {
			clk.SetTime(epoch.Add(at + time.Duration(i)*time.Second))
			trouble.handle(t.Context(), r, fmt.Errorf("kind %d: %w", i, errInjected))
		}
	}

	for range 10 {
		if err := trouble.lasting(); err == nil || !strings.Contains(err.Error(), "kind 0") {
			t.Errorf("got %v", err)
		}
	}
}

// TestNewsAfterTrouble holds that what the first list after a lasting trouble tells of finds
// its Tenant: it comes before the trouble is taken to be over.
func TestNewsAfterTrouble(t *testing.T) {
	t.Parallel()

	clk := clocktesting.NewFakePassiveClock(epoch)
	trouble := newTrouble(clk)

	for _, at := range every(30*time.Second, lastingAfter) {
		clk.SetTime(epoch.Add(at))
		trouble.handle(t.Context(), nil, errInjected)
	}

	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "vcluster-alice", Annotations: named("kubeopera-system/alice")}}
	c := fake.NewClientBuilder().WithObjects(ns).Build()
	h := &Host{Cached: watchedReader{c, trouble}, unchecked: c}

	if got := h.concernedBy(t.Context(), &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "vcluster-alice", Name: "vc-alice"}}); len(got) != 1 {
		t.Errorf("it concerns %v", got)
	}
}
