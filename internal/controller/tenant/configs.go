// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// indexConfig is the field by which the cache finds the Tenants that use a provider
// configuration. Setup adds it.
const indexConfig = "spec.providerConfigRef"

func configOf(o client.Object) []string {
	t, ok := o.(*v1alpha1.Tenant)
	if !ok || t.GetProviderConfigReference() == nil {
		return nil
	}

	ref := t.GetProviderConfigReference()

	return []string{ref.Kind + "/" + ref.Name}
}

// usersOf finds the Tenants that use a provider configuration of the kind.
func (c *connector) usersOf(kind schema.GroupVersionKind) handler.MapFunc {
	return func(ctx context.Context, pc client.Object) []reconcile.Request {
		all := &v1alpha1.TenantList{}
		if err := c.kube.List(ctx, all, client.InNamespace(pc.GetNamespace()), client.MatchingFields{indexConfig: kind.Kind + "/" + pc.GetName()}); err != nil {
			return nil // The poll finds what the cache cannot tell.
		}

		out := make([]reconcile.Request, 0, len(all.Items))

		for i := range all.Items {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
		}

		return out
	}
}
