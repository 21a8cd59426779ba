// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package report delivers reports to kubeopera-api. What is to be reported stands
// in the status of Tenants, where the Tenant controller puts it, and in the
// outbox. It is delivered by a controller of its own, so that kubeopera-api never
// holds a Tenant back.
//
// One request stands for one CloudSpace: its reports are delivered one after the
// other, and only the newest of a Tenant.
package report

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	shared "github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/report"
)

const (
	// workers is how many CloudSpaces are reported at once. Each may wait for
	// kubeopera-api as long as a Put takes.
	workers = 4

	// A report that was not accepted is put again after firstRetry, then after
	// twice as long each time, up to maxRetry, without end.
	firstRetry = time.Second
	maxRetry   = time.Minute
)

// Options of the report controller.
type Options struct {
	controller.Options

	// Client that puts reports at kubeopera-api.
	Client *report.Client
	// Outbox with the reports that outlive their Tenants.
	Outbox *report.Outbox
	// CloudSpaceIndex is the field by which the manager's cache finds Tenants by
	// their cloudSpaceID.
	CloudSpaceIndex string
}

// Setup adds the report controller to the manager. Its cache must hold the
// ConfigMaps of the outbox, and needs no others.
func Setup(mgr ctrl.Manager, o Options) error {
	name := "report/" + strings.ToLower(v1alpha1.TenantGroupVersionKind.GroupKind().String())

	r := &reconciler{
		kube:    mgr.GetClient(),
		live:    mgr.GetAPIReader(),
		put:     o.Client.Put,
		outbox:  o.Outbox,
		index:   o.CloudSpaceIndex,
		record:  shared.NewRecorder(mgr, name, o.Options),
		log:     o.Logger.WithValues("controller", name),
		clock:   clock.RealClock{},
		backoff: newBackoff(),
		memory:  newMemory(),
	}

	// It has workers of its own and no share in the limit of all controllers, so
	// that many reports never slow Tenants down.
	c := o.ForControllerRuntime()
	c.MaxConcurrentReconciles = workers

	err := ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(c).
		Watches(&v1alpha1.Tenant{}, handler.EnqueueRequestsFromMapFunc(ofTenant), builder.WithPredicates(tenantChanges())).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(ofEntry), builder.OnlyMetadata,
			builder.WithPredicates(predicate.NewPredicateFuncs(o.Outbox.Holds))).
		Complete(r)
	if err != nil {
		return fmt.Errorf("cannot add the controller %q: %w", name, err)
	}

	return nil
}

// newBackoff counts failures of a CloudSpace by itself: the queue forgets them
// when a request comes back after a time of our choice.
func newBackoff() workqueue.TypedRateLimiter[string] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, maxRetry)
}

func requestFor(cloudSpaceID string) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: cloudSpaceID}}}
}

func ofTenant(_ context.Context, o client.Object) []reconcile.Request {
	t, ok := o.(*v1alpha1.Tenant)
	if !ok {
		return nil
	}

	return requestFor(t.Spec.CloudSpaceID)
}

func ofEntry(_ context.Context, o client.Object) []reconcile.Request {
	return requestFor(o.GetLabels()[v1alpha1.LabelTenantID])
}

// tenantChanges lets through what may have to be delivered, and Tenants that are
// gone. What else changes in a Tenant, such as the condition that says why its
// report was not accepted, must not go past the backoff.
func tenantChanges() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e ctrlevent.CreateEvent) bool {
			_, due := dueOf(e.Object)
			return due
		},
		UpdateFunc: func(e ctrlevent.UpdateEvent) bool {
			was, wasDue := dueOf(e.ObjectOld)
			is, due := dueOf(e.ObjectNew)
			again := e.ObjectOld.GetResourceVersion() == e.ObjectNew.GetResourceVersion()

			return due && (again || !wasDue || was.Key() != is.Key())
		},
		GenericFunc: func(ctrlevent.GenericEvent) bool { return false },
	}
}

// dueOf is the report of a Tenant that is to be delivered. A Tenant that is paused
// is left alone.
func dueOf(o client.Object) (report.Report, bool) {
	t, ok := o.(*v1alpha1.Tenant)
	if !ok || meta.IsPaused(t) {
		return report.Report{}, false
	}

	return report.Pending(t)
}
