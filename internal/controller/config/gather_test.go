// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// TestGathering holds that a configuration counts its usages once for many that come
// together.
func TestGathering(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer q.ShutDown()

		h := gathering(&resource.EnqueueRequestForProviderConfig{Kind: "ClusterProviderConfig"})
		usage := &v1alpha1.ProviderConfigUsage{}
		usage.SetProviderConfigReference(xpv2.ProviderConfigReference{Name: "default", Kind: "ClusterProviderConfig"})

		h.Create(t.Context(), event.CreateEvent{Object: usage}, q)
		h.Update(t.Context(), event.UpdateEvent{ObjectOld: usage, ObjectNew: usage}, q)
		h.Delete(t.Context(), event.DeleteEvent{Object: usage}, q)
		h.Generic(t.Context(), event.GenericEvent{Object: usage}, q)

		if n := q.Len(); n != 0 {
			t.Errorf("%d requests do not wait", n)
		}

		time.Sleep(gatherTime)
		synctest.Wait()

		if n := q.Len(); n != 1 {
			t.Fatalf("%d requests wait for one configuration", n)
		}

		want := reconcile.Request{NamespacedName: types.NamespacedName{Name: "default"}}
		if got, _ := q.Get(); got != want {
			t.Errorf("asked for %v, want %v", got, want)
		}
	})
}
