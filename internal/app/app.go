// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package app runs the provider: it checks the settings, connects to the
// cluster and starts the controllers.
package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/config"
	"github.com/kubeopera/provider-kubeopera/internal/controller/tenant"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/host"
)

// Run runs the provider until ctx ends, and then lets what is being done end in
// order. The settings must be valid. It logs to log, and so do the libraries
// that it uses.
func Run(ctx context.Context, c Config, log logr.Logger) error {
	ctrl.SetLogger(log)
	klog.SetLogger(log)

	charts, err := helm.NewChartCache(c.ChartCache)
	if err != nil {
		return fmt.Errorf("%s: %w; %s", setting("chart-cache"), err, writableFolder)
	}
	cluster, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("cannot find a cluster; run in a pod of one or set KUBECONFIG: %w", err)
	}
	if err := checkCRDs(ctx, cluster); err != nil {
		return err
	}
	mgr, err := newManager(ratelimiter.LimitRESTConfig(cluster, c.MaxReconcileRate), c, log)
	if err != nil {
		return err
	}
	if err := addControllers(mgr, c, charts, log); err != nil {
		return err
	}
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("cannot run the controllers: %w", err)
	}
	return nil
}

func addControllers(mgr ctrl.Manager, c Config, charts *helm.ChartCache, log logr.Logger) error {
	states := statemetrics.NewMRStateMetrics()
	recorder := managed.NewMRMetricRecorder()
	if err := register(slices.Concat(helm.Collectors(), host.Collectors(), []prometheus.Collector{states, recorder})); err != nil {
		return err
	}
	o := controllerOptions(c, log)
	o.MetricOptions = &controller.MetricOptions{PollStateMetricInterval: c.Poll, MRMetrics: recorder, MRStateMetrics: states}

	counter := statemetrics.NewMRStateRecorder(mgr.GetClient(), o.Logger, states, &v1alpha1.TenantList{}, c.Poll)
	if err := mgr.Add(counter); err != nil {
		return fmt.Errorf("cannot add the count of Tenants: %w", err)
	}
	if err := config.Setup(mgr, o); err != nil {
		return fmt.Errorf("cannot set up the controllers of provider configurations: %w", err)
	}
	t := tenant.Options{Options: o, ChartVersion: c.ChartVersion, Environment: c.Environment, Charts: charts}
	if err := tenant.Setup(mgr, t); err != nil {
		return fmt.Errorf("cannot set up the controller of Tenants: %w", err)
	}
	return nil
}

// controllerOptions are what all controllers share.
func controllerOptions(c Config, log logr.Logger) controller.Options {
	features := &feature.Flags{}
	features.Enable(feature.EnableBetaManagementPolicies)

	return controller.Options{
		Logger:                  logging.NewLogrLogger(log),
		GlobalRateLimiter:       ratelimiter.NewGlobal(c.MaxReconcileRate),
		PollInterval:            c.Poll,
		MaxConcurrentReconciles: c.MaxReconcileRate,
		Features:                features,
	}
}

// register adds the metrics to those of the libraries.
func register(ms []prometheus.Collector) error {
	for _, m := range ms {
		if err := metrics.Registry.Register(m); err != nil {
			return fmt.Errorf("cannot register metrics: %w", err)
		}
	}
	return nil
}
