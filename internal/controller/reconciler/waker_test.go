// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler/reconcilertest"
)

func TestWaker(t *testing.T) {
	t.Parallel()

	w, q := &Waker{}, &reconcilertest.Queue{}
	key := types.NamespacedName{Namespace: "n", Name: "x"}

	w.Wake(key) // Nothing runs yet.
	w.WakeLast(key)

	if err := w.Source().Start(t.Context(), q); err != nil {
		t.Fatal(err)
	}

	w.Wake(key)
	w.WakeAfter(key, time.Second)
	w.WakeLast(key)

	want := []string{"forget n/x", "after 0s n/x", "after 1s n/x", "forget n/x", "priority -100 n/x"}
	if diff := cmp.Diff(want, q.Take()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	type plain struct {
		workqueue.TypedRateLimitingInterface[reconcile.Request]
	}

	if err := (&Waker{}).Source().Start(t.Context(), plain{}); err == nil {
		t.Error("a queue without priorities is taken")
	}
}
