// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
)

// Kind is one of the two kinds that this package serves.
type Kind struct {
	schema.GroupVersionKind

	// Object and List make an empty one of the kind.
	Object func() client.Object
	List   func() resource.ManagedList
}

func (k Kind) controller() string { return managed.ControllerName(k.GroupKind().String()) }

// recorder records the events of the kind.
func (k Kind) recorder(mgr ctrl.Manager, o controller.Options) event.Recorder {
	//nolint:staticcheck // crossplane-runtime takes no recorder of the new events API.
	return event.NewAPIRecorder(mgr.GetEventRecorderFor(k.controller()), o.EventFilterFunctions...)
}

// Setup adds the controller of the kind to the manager, with its field index
// [IndexTenant]. It wakes an object when the waker says so, when there is news of
// the object's Tenant, and when another of the kind is gone that refers to the
// same Tenant. The option says how to connect.
func Setup(mgr ctrl.Manager, k Kind, c Controller, o controller.Options, connect managed.ReconcilerOption) error {
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), k.Object(), IndexTenant, TenantNameOf); err != nil {
		return fmt.Errorf("cannot index %s objects by their Tenant: %w", k.Kind, err)
	}

	r := managed.NewReconciler(mgr, resource.ManagedKind(k.GroupVersionKind), append(Options(mgr.GetClient(), o),
		connect,
		managed.WithLogger(o.Logger.WithValues("controller", k.controller())),
		managed.WithRecorder(c.Record),
	)...)

	return ctrl.NewControllerManagedBy(mgr).
		Named(k.controller()).
		WithOptions(o.ForControllerRuntime()).
		For(k.Object(), builder.WithPredicates(resource.DesiredStateChanged())).
		Watches(&v1alpha1.Tenant{}, handler.EnqueueRequestsFromMapFunc(referring(mgr.GetClient(), k)), builder.WithPredicates(tenantNews())).
		Watches(k.Object(), handler.EnqueueRequestsFromMapFunc(siblings(mgr.GetClient(), k)), builder.WithPredicates(deletions())).
		WatchesRawSource(c.Waker.Source()).
		Complete(ratelimiter.NewReconciler(k.controller(), r, o.GlobalRateLimiter))
}

// Options are those of both managed reconcilers.
func Options(c client.Client, o controller.Options) []managed.ReconcilerOption {
	return append(reconciler.Options(o),
		managed.WithInitializers(Initializer{Kube: c}),
		managed.WithCriticalAnnotationUpdater(annotationUpdater{managed.NewRetryingCriticalAnnotationUpdater(c)}),
		managed.WithFinalizer(finalizer{resource.NewAPIFinalizer(c, managed.FinalizerName)}),
	)
}
