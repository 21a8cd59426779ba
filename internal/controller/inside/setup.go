// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/glance"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
)

// Kind is one of the two kinds that this package serves.
type Kind struct {
	schema.GroupVersionKind

	// Object and List make an empty one of the kind.
	Object func() client.Object
	List   func() resource.ManagedList
}

func (k Kind) controller() string { return managed.ControllerName(k.GroupKind().String()) }

// Setup adds the controller of the kind to the manager, with its field index
// [IndexTenant]. It wakes an object when something inside the vCluster says so, when
// there is news of the object's Tenant, and when another of the kind is gone that
// refers to the same Tenant.
func Setup[T resource.Managed, F Facts](mgr ctrl.Manager, k Kind, h Handler[T, F], o controller.Options, pool *tenantapi.Pool) error {
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), k.Object(), IndexTenant, TenantNameOf); err != nil {
		return fmt.Errorf("cannot index %s objects by their Tenant: %w", k.Kind, err)
	}

	c := Controller{
		Kube:     mgr.GetClient(),
		Live:     mgr.GetAPIReader(),
		Metadata: mgr.GetCache(),
		Looks:    glance.NewMemory(clock.RealClock{}),
		Open:     pool.Get,
		Record:   reconciler.NewRecorder(mgr, k.controller(), o),
		Clock:    clock.RealClock{},
		Waker:    &reconciler.Waker{},
	}

	return ctrl.NewControllerManagedBy(mgr).
		Named(k.controller()).
		WithOptions(o.ForControllerRuntime()).
		For(k.Object(), builder.WithPredicates(resource.DesiredStateChanged())).
		Watches(&v1alpha1.Tenant{}, handler.EnqueueRequestsFromMapFunc(referring(mgr.GetClient(), k)), builder.WithPredicates(tenantNews())).
		Watches(k.Object(), handler.EnqueueRequestsFromMapFunc(siblings(mgr.GetClient(), k)), builder.WithPredicates(deletions())).
		WatchesRawSource(c.Waker.Source()).
		Complete(ratelimiter.NewReconciler(k.controller(), reconciler.Paced(NewReconciler(mgr, k, c, h, o)), o.GlobalRateLimiter))
}

// NewReconciler makes the managed reconciler of the kind, which writes with the
// manager's client.
func NewReconciler[T resource.Managed, F Facts](mgr manager.Manager, k Kind, c Controller, h Handler[T, F], o controller.Options) *managed.Reconciler {
	kube := mgr.GetClient()

	return managed.NewReconciler(reconciler.WithoutIdleWrites(mgr), resource.ManagedKind(k.GroupVersionKind), append(reconciler.Options(o),
		managed.WithTypedExternalConnector(connector[T, F]{Controller: c, handler: h}),
		managed.WithInitializers(initializer{kube}),
		managed.WithFinalizer(reconciler.Finalizer{Finalizer: resource.NewAPIFinalizer(kube, managed.FinalizerName), Live: c.Live}),
		managed.WithLogger(o.Logger.WithValues("controller", k.controller())),
		managed.WithRecorder(c.Record),
	)...)
}
