// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestFollowAgain(t *testing.T) {
	t.Parallel()

	errFailed := errors.New("failed")
	cases := map[string]struct {
		reason string
		watch  func() (watch.Interface, error)
		fn     error
	}{
		"NoWatch":    {reason: "the API server may be gone for a moment", watch: func() (watch.Interface, error) { return nil, errFailed }},
		"WatchEnded": {reason: "an API server ends each watch some time", watch: func() (watch.Interface, error) { return watch.NewEmptyWatch(), nil }},
		"FnFailed":   {reason: "what could not be done is tried again", watch: oneEvent, fn: errFailed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*followAgain-time.Millisecond)
				defer cancel()

				watches := 0
				c := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
					Watch: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
						watches++
						return tc.watch()
					},
				})

				Follow(ctx, c, &corev1.PodList{}, func(context.Context, client.Object) error { return tc.fn })

				if watches != 10 {
					t.Errorf("%s, after a pause: got %d watches in the time of 10", tc.reason, watches)
				}
			})
		})
	}
}

// oneEvent is a watch that tells of one Pod.
func oneEvent() (watch.Interface, error) {
	w := watch.NewFakeWithChanSize(1, false)
	w.Add(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}})

	return w, nil
}
