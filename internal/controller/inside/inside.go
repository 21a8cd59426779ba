// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package inside is what the controllers of AdvisorAgents and TenantQuotas have
// in common: both keep objects inside the vCluster of a Tenant.
//
// [Setup] runs the controller of a kind, which says by its [Handler] what is
// particular to it. The package finds the vCluster of a Tenant, compares what is
// wanted with what is there, writes by server-side apply, tells what belongs to
// whom, and says when an object that is being deleted may go without a proof.
package inside

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// IndexTenant is the field index of AdvisorAgents and of TenantQuotas by the name
// of the Tenant that they refer to, which is in their own namespace.
const IndexTenant = "spec.tenantRef.name"

// TenantOf is the Tenant that an AdvisorAgent or a TenantQuota refers to. It is
// false for any other object.
func TenantOf(o client.Object) (types.NamespacedName, bool) {
	var ref v1alpha1.TenantReference

	switch o := o.(type) {
	case *v1alpha1.AdvisorAgent:
		ref = o.Spec.TenantRef
	case *v1alpha1.TenantQuota:
		ref = o.Spec.TenantRef
	default:
		return types.NamespacedName{}, false
	}

	return types.NamespacedName{Namespace: o.GetNamespace(), Name: ref.Name}, true
}

// KindOf is the kind of an AdvisorAgent or a TenantQuota.
func KindOf(o client.Object) string {
	if _, ok := o.(*v1alpha1.AdvisorAgent); ok {
		return v1alpha1.AdvisorAgentGroupVersionKind.Kind
	}

	return v1alpha1.TenantQuotaGroupVersionKind.Kind
}

// TenantNameOf indexes objects by [IndexTenant].
func TenantNameOf(o client.Object) []string {
	t, ok := TenantOf(o)
	if !ok {
		return nil
	}

	return []string{t.Name}
}

// listReferring lists into l the objects of its kind that refer to the Tenant.
func listReferring(ctx context.Context, c client.Reader, l resource.ManagedList, tenant types.NamespacedName) ([]resource.Managed, error) {
	if err := c.List(ctx, l, client.InNamespace(tenant.Namespace), client.MatchingFields{IndexTenant: tenant.Name}); err != nil {
		return nil, fmt.Errorf("cannot list what refers to Tenant %q: %w", tenant.Name, err)
	}

	return l.GetItems(), nil
}
