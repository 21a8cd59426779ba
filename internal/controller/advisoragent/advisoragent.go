// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package advisoragent makes and keeps App Advisors inside the vClusters of
// Tenants: it is what package inside has to know of AdvisorAgents.
package advisoragent

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
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
	return inside.Setup(mgr, kind, handler{defaultImage: o.DefaultImage}, o.Options, o.Pool)
}

// handler does what is particular to AdvisorAgents.
type handler struct{ defaultImage string }

var _ inside.Handler[*v1alpha1.AdvisorAgent, *facts] = handler{}
