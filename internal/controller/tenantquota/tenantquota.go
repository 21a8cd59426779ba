// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package tenantquota makes and keeps quotas inside the vClusters of Tenants: it is
// what package inside has to know of TenantQuotas.
package tenantquota

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
)

// Options of the TenantQuota controller.
type Options struct {
	controller.Options

	// Pool of the clients for the tenants' APIs.
	Pool *tenantapi.Pool
}

var kind = inside.Kind{
	GroupVersionKind: v1alpha1.TenantQuotaGroupVersionKind,
	Object:           func() client.Object { return &v1alpha1.TenantQuota{} },
	List:             func() resource.ManagedList { return &v1alpha1.TenantQuotaList{} },
}

// Setup adds the TenantQuota controller to the manager.
func Setup(mgr ctrl.Manager, o Options) error {
	return inside.Setup(mgr, kind, handler{}, o.Options, o.Pool)
}

// handler does what is particular to TenantQuotas.
type handler struct{}

var _ inside.Handler[*v1alpha1.TenantQuota, *facts] = handler{}
