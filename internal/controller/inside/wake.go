// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// referring finds what refers to a Tenant.
func referring(c client.Reader, k Kind) handler.MapFunc {
	return func(ctx context.Context, t client.Object) []reconcile.Request {
		return requests(ctx, c, k, client.ObjectKeyFromObject(t))
	}
}

// siblings finds what refers to the same Tenant as an object of the kind.
func siblings(c client.Reader, k Kind) handler.MapFunc {
	return func(ctx context.Context, o client.Object) []reconcile.Request {
		t, ok := TenantOf(o)
		if !ok {
			return nil
		}

		return requests(ctx, c, k, t)
	}
}

// requests are those of the objects that refer to the Tenant. They come from a
// cache; what it cannot tell, the poll finds.
func requests(ctx context.Context, c client.Reader, k Kind, tenant types.NamespacedName) []reconcile.Request {
	all, err := listReferring(ctx, c, k.List(), tenant)
	if err != nil {
		return nil
	}

	out := make([]reconcile.Request, 0, len(all))
	for _, mg := range all {
		out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(mg)})
	}

	return out
}

// tenantNews lets through what may change whether a vCluster is available.
func tenantNews() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, ok := e.ObjectOld.(*v1alpha1.Tenant)
			is, isTenant := e.ObjectNew.(*v1alpha1.Tenant)

			return ok && isTenant && connectionStateOf(was) != connectionStateOf(is)
		},
	}
}

// deletions lets through that an object is gone.
func deletions() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}
