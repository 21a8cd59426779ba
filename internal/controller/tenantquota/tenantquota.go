// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package tenantquota makes and keeps quotas inside the vClusters of Tenants: it is
// the external client of TenantQuotas behind Crossplane's managed reconciler.
package tenantquota

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	c := &connector{inside.NewController(mgr, kind, o.Options, o.Pool)}

	return inside.Setup(mgr, kind, c.Controller, o.Options, managed.WithTypedExternalConnector(c))
}

// connector makes the external client of one TenantQuota for one pass.
type connector struct{ inside.Controller }

var _ managed.TypedExternalConnector[*v1alpha1.TenantQuota] = &connector{}

// Connect finds the way into the vCluster.
func (c *connector) Connect(ctx context.Context, q *v1alpha1.TenantQuota) (managed.TypedExternalClient[*v1alpha1.TenantQuota], error) {
	return &external{Pass: c.Begin(ctx, q), before: *q.Status.DeepCopy()}, nil
}

// external is the client of one TenantQuota for one pass. Create, Update and
// Delete act on what Observe saw in the same pass.
type external struct {
	inside.Pass

	before v1alpha1.TenantQuotaStatus
	seen   *facts
	left   []*unstructured.Unstructured
}

var _ managed.TypedExternalClient[*v1alpha1.TenantQuota] = &external{}

// Disconnect does nothing: the clients serve other passes.
func (e *external) Disconnect(context.Context) error { return nil }
