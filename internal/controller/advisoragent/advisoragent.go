// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package advisoragent makes and keeps App Advisors inside the vClusters of
// Tenants: it is the external client of AdvisorAgents behind Crossplane's managed
// reconciler.
package advisoragent

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

// Options of the AdvisorAgent controller.
type Options struct {
	controller.Options

	// Pool of the clients for the tenants' APIs.
	Pool *tenantapi.Pool
	// DefaultImage runs for AdvisorAgents that name none. Empty means none.
	DefaultImage string
}

var kind = inside.Kind{
	GroupVersionKind: v1alpha1.AdvisorAgentGroupVersionKind,
	Object:           func() client.Object { return &v1alpha1.AdvisorAgent{} },
	List:             func() resource.ManagedList { return &v1alpha1.AdvisorAgentList{} },
}

// Setup adds the AdvisorAgent controller to the manager.
func Setup(mgr ctrl.Manager, o Options) error {
	c := &connector{Controller: inside.NewController(mgr, kind, o.Options, o.Pool), defaultImage: o.DefaultImage}

	return inside.Setup(mgr, kind, c.Controller, o.Options, managed.WithTypedExternalConnector(c))
}

// connector makes the external client of one AdvisorAgent for one pass.
type connector struct {
	inside.Controller

	defaultImage string
}

var _ managed.TypedExternalConnector[*v1alpha1.AdvisorAgent] = &connector{}

// Connect finds the way into the vCluster.
func (c *connector) Connect(ctx context.Context, a *v1alpha1.AdvisorAgent) (managed.TypedExternalClient[*v1alpha1.AdvisorAgent], error) {
	return &external{Pass: c.Begin(ctx, a), defaultImage: c.defaultImage, before: *a.Status.DeepCopy()}, nil
}

// external is the client of one AdvisorAgent for one pass. Create, Update and
// Delete act on what Observe saw in the same pass.
type external struct {
	inside.Pass

	defaultImage string
	before       v1alpha1.AdvisorAgentStatus
	seen         *facts
	left         []*unstructured.Unstructured
}

var _ managed.TypedExternalClient[*v1alpha1.AdvisorAgent] = &external{}

// Disconnect does nothing: the clients serve other passes.
func (e *external) Disconnect(context.Context) error { return nil }
