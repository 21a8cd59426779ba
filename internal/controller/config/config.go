// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package config reconciles ProviderConfigs and ClusterProviderConfigs: it
// counts who uses each, and holds one back from deletion while it is in use.
package config

import (
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/providerconfig"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
)

// Setup adds a controller for each of the two kinds of configuration.
func Setup(mgr ctrl.Manager, o controller.Options) error {
	if err := setup(mgr, o, &v1alpha1.ProviderConfig{}, v1alpha1.ProviderConfigGroupVersionKind); err != nil {
		return err
	}
	return setup(mgr, o, &v1alpha1.ClusterProviderConfig{}, v1alpha1.ClusterProviderConfigGroupVersionKind)
}

// setup adds the controller of one kind. Usages of both are of one kind, so
// that each controller must take only those that name its own: the watch does
// so by Kind, the reconciler by the labels that Crossplane's tracker sets.
func setup(mgr ctrl.Manager, o controller.Options, of client.Object, gvk schema.GroupVersionKind) error {
	name := providerconfig.ControllerName(gvk.GroupKind().String())

	r := providerconfig.NewReconciler(mgr,
		resource.ProviderConfigKinds{
			Config:    gvk,
			Usage:     v1alpha1.ProviderConfigUsageGroupVersionKind,
			UsageList: v1alpha1.ProviderConfigUsageListGroupVersionKind,
		},
		providerconfig.WithLogger(o.Logger.WithValues("controller", name)),
		providerconfig.WithRecorder(reconciler.NewRecorder(mgr, name, o)),
	)

	err := ctrl.NewControllerManagedBy(mgr).
		Named(name).
		WithOptions(o.ForControllerRuntime()).
		For(of, builder.WithPredicates(resource.DesiredStateChanged())).
		Watches(&v1alpha1.ProviderConfigUsage{}, gathering(&resource.EnqueueRequestForProviderConfig{Kind: gvk.Kind})).
		Complete(ratelimiter.NewReconciler(name, r, o.GlobalRateLimiter))
	if err != nil {
		return fmt.Errorf("cannot add the controller of %s: %w", gvk.Kind, err)
	}
	return nil
}
