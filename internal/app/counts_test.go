// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// TestCounter holds that objects are counted again and again, without copies of them,
// until the provider ends or they cannot be listed.
func TestCounter(t *testing.T) {
	t.Parallel()
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	ready := &v1alpha1.Tenant{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "ready"}}
	ready.SetConditions(xpv2.Available())
	other := &v1alpha1.Tenant{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "other"}}

	ctx, stop := context.WithCancel(t.Context())
	lists, fail := 0, error(nil)
	c := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(ready, other).Build(), interceptor.Funcs{
		List: func(ctx context.Context, inner client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			o := (&client.ListOptions{}).ApplyOptions(opts)
			if o.UnsafeDisableDeepCopy == nil || !*o.UnsafeDisableDeepCopy {
				t.Error("all objects are copied")
			}
			if lists++; lists == 3 {
				stop()
			}
			return errors.Join(fail, inner.List(ctx, l))
		},
	})
	states := statemetrics.NewMRStateMetrics()
	o := controller.Options{
		Logger:        logging.NewNopLogger(),
		MetricOptions: &controller.MetricOptions{PollStateMetricInterval: time.Millisecond, MRStateMetrics: states},
	}
	count := counter(c, o, func() resource.ManagedList { return &v1alpha1.TenantList{} })

	if err := count(ctx); err != nil || lists != 3 {
		t.Errorf("it ended after %d counts: %v", lists, err)
	}
	want := map[string]float64{"crossplane_managed_resource_exists": 2, "crossplane_managed_resource_ready": 1, "crossplane_managed_resource_synced": 0}
	if diff := cmp.Diff(want, gauges(t, states)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	fail = errors.New("injected")
	if err := count(t.Context()); !errors.Is(err, fail) {
		t.Errorf("what cannot be listed: %v", err)
	}
}

// gauges are the values of a collector's metrics, each of one series.
func gauges(t *testing.T, c prometheus.Collector) map[string]float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(c)
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		out[f.GetName()] = f.GetMetric()[0].GetGauge().GetValue()
	}
	return out
}
