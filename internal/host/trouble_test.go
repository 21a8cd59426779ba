// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
