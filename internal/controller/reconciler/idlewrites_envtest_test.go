// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package reconciler

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler/reconcilertest"
	"github.com/kubeopera/provider-kubeopera/internal/testenv"
)

// counting counts updates.
type counting struct {
	http.RoundTripper

	puts *atomic.Int32
}

func (c counting) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPut {
		c.puts.Add(1)
	}

	return c.RoundTripper.RoundTrip(r)
}

// TestIdleStatusIsNotSent holds that a status which is stored is not sent with a real cache
// either, whether a list or a watch brought the object.
func TestIdleStatusIsNotSent(t *testing.T) {
	t.Parallel()

	cluster := testenv.RunControlPlane(t, "package/crds")
	puts := &atomic.Int32{}
	cluster.Wrap(func(rt http.RoundTripper) http.RoundTripper { return counting{rt, puts} })

	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}

	mgr, err := ctrl.NewManager(cluster, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}

	direct, err := client.New(cluster, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}

	quotaOf := func(name string) *v1alpha1.TenantQuota {
		q := &v1alpha1.TenantQuota{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}}
		q.Spec.TenantRef.Name = "t"
		q.Spec.Hard = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")}

		return q
	}

	listed, watched := quotaOf("listed"), quotaOf("watched")
	if err := direct.Create(t.Context(), listed); err != nil {
		t.Fatal(err)
	}

	ctx := reconcilertest.Start(t, mgr)

	if _, err := mgr.GetCache().GetInformer(ctx, listed); err != nil || !mgr.GetCache().WaitForCacheSync(ctx) {
		t.Fatal(err)
	}

	if err := direct.Create(t.Context(), watched); err != nil {
		t.Fatal(err)
	}

	quiet := WithoutIdleWrites(mgr).GetClient()

	for _, q := range []*v1alpha1.TenantQuota{listed, watched} {
		got := &v1alpha1.TenantQuota{}
		if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
			return quiet.Get(ctx, client.ObjectKeyFromObject(q), got) == nil, nil
		}); err != nil {
			t.Fatal(err)
		}

		before := puts.Load()
		if err := quiet.Status().Update(t.Context(), got); err != nil {
			t.Fatal(err)
		}

		if n := puts.Load() - before; n != 0 {
			t.Errorf("a status that is stored was sent of what the cache %s", q.Name)
		}

		got.SetConditions(xpv2.ReconcileSuccess())

		before = puts.Load()
		if err := quiet.Status().Update(t.Context(), got); err != nil || puts.Load()-before != 1 {
			t.Errorf("a new status was not sent: %v", err)
		}
	}
}
