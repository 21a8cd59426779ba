// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package tenant makes and keeps Tenants: it is the external client behind
// Crossplane's managed reconciler.
//
// Observe gathers facts and derives everything from them, Create and Update do
// what the facts call for, Delete takes things away in order. What an earlier pass
// has stored never says that something is done.
package tenant

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/glance"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/host"
	"github.com/kubeopera/provider-kubeopera/internal/report"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
)

// Options of the Tenant controller.
type Options struct {
	controller.Options

	// ChartVersion of the vCluster chart for Tenants that name none.
	ChartVersion string
	// FluxChartVersion of the flux2 chart for Tenants that name none.
	FluxChartVersion string
	// AdvisorImage of Tenants that name none. Empty runs no App Advisor there.
	AdvisorImage string
	// Environment is a label on all that is made. Empty makes none.
	Environment string
	// Charts that were downloaded.
	Charts *helm.ChartCache
	// Tenants are the ways into the vClusters.
	Tenants *tenantapi.Pool
	// Outbox keeps the report that a Tenant is gone. Nil reports nothing.
	Outbox *report.Outbox
}

// Setup adds the Tenant controller to the manager.
func Setup(mgr ctrl.Manager, o Options) error {
	name := managed.ControllerName(v1alpha1.TenantGroupVersionKind.GroupKind().String())

	for field, of := range map[string]client.IndexerFunc{IndexCloudSpaceID: cloudSpaceIDOf, indexConfig: configOf} {
		if err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.Tenant{}, field, of); err != nil {
			return fmt.Errorf("cannot index Tenants by their %s: %w", field, err)
		}
	}

	// What changes on a host, or inside a vCluster, means that its Tenant has moved on,
	// so that a backoff from before means nothing.
	waker := &reconciler.Waker{}
	hosts := host.NewPool()
	hosts.Notify(func(t types.NamespacedName, listed bool) {
		if listed {
			waker.WakeLast(t)
		} else {
			waker.Wake(t)
		}
	})

	if err := mgr.Add(hosts); err != nil {
		return fmt.Errorf("cannot add the host clusters to the manager: %w", err)
	}

	c := newConnector(mgr, o, name, hosts, waker)
	f := finalizer{
		Finalizer: resource.NewAPIFinalizer(mgr.GetClient(), managed.FinalizerName),
		live:      mgr.GetAPIReader(),
		record:    c.record,
		clock:     c.clock,
		forget:    c.forget,
		keep:      keepIn(o.Outbox),
	}
	c.hold = f.AddFinalizer

	r := managed.NewReconciler(reconciler.WithoutIdleWrites(mgr), resource.ManagedKind(v1alpha1.TenantGroupVersionKind), append(reconciler.Options(o.Options),
		managed.WithTypedExternalConnector(c),
		managed.WithInitializers(initializer{kube: mgr.GetClient()}),
		managed.WithFinalizer(f),
		managed.WithLogger(o.Logger.WithValues("controller", name)),
		managed.WithRecorder(c.record),
	)...)

	specChanged := builder.WithPredicates(predicate.GenerationChangedPredicate{})

	return ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(o.ForControllerRuntime()).
		For(&v1alpha1.Tenant{}, builder.WithPredicates(predicate.Or(resource.DesiredStateChanged(), onRetry()))).
		Owns(&corev1.Secret{}, builder.OnlyMetadata).
		Watches(&v1alpha1.AdvisorAgent{}, handler.EnqueueRequestsFromMapFunc(namedTenant)).
		Watches(&v1alpha1.TenantQuota{}, handler.EnqueueRequestsFromMapFunc(namedTenant)).
		Watches(&v1alpha1.ProviderConfig{}, handler.EnqueueRequestsFromMapFunc(c.usersOf(v1alpha1.ProviderConfigGroupVersionKind)), specChanged).
		Watches(&v1alpha1.ClusterProviderConfig{}, handler.EnqueueRequestsFromMapFunc(c.usersOf(v1alpha1.ClusterProviderConfigGroupVersionKind)), specChanged).
		WatchesRawSource(waker.Source()).
		Complete(ratelimiter.NewReconciler(name, reconciler.Paced(handingOn{Reconciler: r, kube: mgr.GetClient(), record: c.record}), o.GlobalRateLimiter))
}

// newConnector makes the external clients of all Tenants.
func newConnector(mgr ctrl.Manager, o Options, name string, hosts *host.Pool, waker *reconciler.Waker) *connector {
	return &connector{
		kube:     mgr.GetClient(),
		kubeLive: mgr.GetAPIReader(),
		metadata: mgr.GetCache(),
		looks:    glance.NewMemory(clock.RealClock{}),
		injected: mgr.GetConfig(),
		hosts:    hosts,
		waker:    waker,
		tenants:  o.Tenants,
		charts:   o.Charts,
		track:    trackUsage,
		record:   reconciler.NewRecorder(mgr, name, o.Options),
		clock:    clock.RealClock{},
		failures: newFailures(),
		stages:   newStopwatch(),
		places:   newPlaces(),
		unseen:   newUnseen(),
		defaults: defaults{
			chartVersion:     o.ChartVersion,
			chartVersionFrom: "the provider's default chart version",
			fluxChartVersion: o.FluxChartVersion,
			advisorImage:     o.AdvisorImage,
			environment:      o.Environment,
		},
		reports: o.Outbox != nil,
	}
}

// trackUsage keeps the ProviderConfigUsage of the Tenant, by that client.
func trackUsage(ctx context.Context, kube client.Client, mg resource.ModernManaged) error {
	return resource.NewProviderConfigUsageTracker(kube, &v1alpha1.ProviderConfigUsage{}).Track(ctx, mg)
}

// keepIn keeps the last reports of Tenants in the outbox.
func keepIn(o *report.Outbox) keeper {
	if o == nil {
		return nil
	}

	return o.Add
}

// namedTenant is the Tenant that an AdvisorAgent or a TenantQuota names.
func namedTenant(_ context.Context, o client.Object) []reconcile.Request {
	t, ok := inside.TenantOf(o)
	if !ok {
		return nil
	}

	return []reconcile.Request{{NamespacedName: t}}
}
