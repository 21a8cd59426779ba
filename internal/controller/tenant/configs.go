// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"slices"

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

// usersOf finds the Tenants that use a provider configuration of the kind. The platform's
// says also how those of ProviderConfigs are isolated.
func (c *connector) usersOf(kind schema.GroupVersionKind) handler.MapFunc {
	return func(ctx context.Context, pc client.Object) []reconcile.Request {
		uses := kind.Kind + "/" + pc.GetName()
		of := []client.ListOption{client.InNamespace(pc.GetNamespace()), client.MatchingFields{indexConfig: uses}}
		isPlatform := kind == v1alpha1.ClusterProviderConfigGroupVersionKind && pc.GetName() == platformConfig

		if isPlatform {
			of = nil
		}

		all := &v1alpha1.TenantList{}
		if err := c.kube.List(ctx, all, of...); err != nil {
			return nil // The poll finds what the cache cannot tell.
		}

		out := make([]reconcile.Request, 0, len(all.Items))

		for i := range all.Items {
			if slices.Contains(configOf(&all.Items[i]), uses) || (isPlatform && usesLocal(&all.Items[i])) {
				out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&all.Items[i])})
			}
		}

		return out
	}
}

// usesLocal says that the Tenant uses a ProviderConfig.
func usesLocal(t *v1alpha1.Tenant) bool {
	ref := t.GetProviderConfigReference()

	return ref != nil && ref.Kind == v1alpha1.ProviderConfigGroupVersionKind.Kind
}
