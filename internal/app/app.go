// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package app runs the provider: it checks the settings, connects to the
// cluster and starts the controllers once there is all that they need.
package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/answers"
	"github.com/kubeopera/provider-kubeopera/internal/controller/advisoragent"
	"github.com/kubeopera/provider-kubeopera/internal/controller/config"
	"github.com/kubeopera/provider-kubeopera/internal/controller/tenant"
	"github.com/kubeopera/provider-kubeopera/internal/controller/tenantquota"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/host"
	"github.com/kubeopera/provider-kubeopera/internal/report"
	"github.com/kubeopera/provider-kubeopera/internal/rights"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
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
	cluster, err := findCluster()
	if err != nil {
		return err
	}
	answers.Check(cluster)
	mgr, err := newManager(ratelimiter.LimitRESTConfig(cluster, c.MaxReconcileRate), c, log)
	if err != nil {
		return err
	}
	disconnect, err := addStarter(mgr, c, charts, log)
	if err != nil {
		return err
	}
	defer func() { _ = disconnect() }()
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("cannot run the controllers: %w", err)
	}
	return nil
}

// ErrNoCluster says that KUBECONFIG names no cluster, and that the provider does not run in
// a pod of one.
var ErrNoCluster = errors.New("cannot find a cluster")

// findCluster is how to reach the cluster that holds the Tenants.
func findCluster() (*rest.Config, error) {
	cluster, err := ctrl.GetConfig()
	switch file := os.Getenv(clientcmd.RecommendedConfigPathEnvVar); {
	case err == nil:
		return cluster, nil
	case file == "":
		return nil, fmt.Errorf("%w: this is no pod of one; set KUBECONFIG to a kubeconfig", ErrNoCluster)
	case clientcmd.IsEmptyConfig(err):
		return nil, fmt.Errorf("%w: KUBECONFIG names %q, which does not exist or is empty; set it to a kubeconfig, or to nothing in a pod", ErrNoCluster, file)
	default:
		return nil, fmt.Errorf("%w: KUBECONFIG names %q, which is no kubeconfig that can be used; set it to another, or to nothing in a pod: %w", ErrNoCluster, file, err)
	}
}

// addStarter adds what starts the controllers, and the probes that say how far it
// has come. The function closes what they have opened.
func addStarter(mgr ctrl.Manager, c Config, charts *helm.ChartCache, log logr.Logger) (func() error, error) {
	review, err := rights.NewReview(mgr.GetConfig())
	if err != nil {
		return nil, err
	}
	needs, err := newRequirement(mgr.GetAPIReader(), outboxNamespace(c))
	if err != nil {
		return nil, err
	}
	o, err := controllerOptions(c, log)
	if err != nil {
		return nil, err
	}
	disconnect, err := addChangeLogs(&o, c)
	if err != nil {
		return nil, err
	}
	s := &starter{
		mgr: mgr, options: o, ready: newReadiness(log), review: review, needs: needs,
		controllers: func() error { return addControllers(mgr, c, o, charts) },
	}
	if err := mgr.Add(s); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot add the controllers: %w", err), disconnect())
	}
	if err := addProbes(mgr, c.ProbeAddress, s.ready); err != nil {
		return nil, errors.Join(err, disconnect())
	}
	return disconnect, nil
}

// addControllers adds all controllers of the provider. The kinds of all must be
// served.
func addControllers(mgr ctrl.Manager, c Config, o controller.Options, charts *helm.ChartCache) error {
	for _, empty := range []func() resource.ManagedList{
		func() resource.ManagedList { return &v1alpha1.TenantList{} },
		func() resource.ManagedList { return &v1alpha1.AdvisorAgentList{} },
		func() resource.ManagedList { return &v1alpha1.TenantQuotaList{} },
	} {
		if err := mgr.Add(counter(mgr.GetClient(), o, empty)); err != nil {
			return fmt.Errorf("cannot add the count of %T: %w", empty(), err)
		}
	}
	if err := config.Setup(mgr, o); err != nil {
		return fmt.Errorf("cannot set up the controllers of provider configurations: %w", err)
	}
	outbox, err := addReports(mgr, c, o)
	if err != nil {
		return err
	}
	return addKinds(mgr, c, o, charts, outbox)
}

// addKinds adds the controllers of what a CloudSpace is made of. A nil outbox
// reports nothing.
func addKinds(mgr ctrl.Manager, c Config, o controller.Options, charts *helm.ChartCache, outbox *report.Outbox) error {
	tenants := tenantapi.NewPool()
	if err := advisoragent.Setup(mgr, advisoragent.Options{Options: o, Pool: tenants, DefaultImage: c.AdvisorImage}); err != nil {
		return fmt.Errorf("cannot set up the controller of AdvisorAgents: %w", err)
	}
	if err := tenantquota.Setup(mgr, tenantquota.Options{Options: o, Pool: tenants}); err != nil {
		return fmt.Errorf("cannot set up the controller of TenantQuotas: %w", err)
	}
	t := tenant.Options{
		Options:          o,
		ChartVersion:     c.ChartVersion,
		FluxChartVersion: c.FluxChartVersion,
		AdvisorImage:     c.AdvisorImage,
		Environment:      c.Environment,
		Charts:           charts,
		Tenants:          tenants,
		Outbox:           outbox,
	}
	if err := tenant.Setup(mgr, t); err != nil {
		return fmt.Errorf("cannot set up the controller of Tenants: %w", err)
	}
	return nil
}

// controllerOptions are what all controllers share. The metrics among them are
// registered.
func controllerOptions(c Config, log logr.Logger) (controller.Options, error) {
	states := statemetrics.NewMRStateMetrics()
	recorder := managed.NewMRMetricRecorder()
	ours := slices.Concat(helm.Collectors(), host.Collectors(), tenant.Collectors(), report.Collectors())
	if err := register(append(ours, states, recorder)); err != nil {
		return controller.Options{}, err
	}
	features := &feature.Flags{}
	features.Enable(feature.EnableBetaManagementPolicies)

	return controller.Options{
		Logger:                  logging.NewLogrLogger(log),
		GlobalRateLimiter:       ratelimiter.NewGlobal(c.MaxReconcileRate),
		PollInterval:            c.Poll,
		MaxConcurrentReconciles: max(1, c.MaxReconcileRate/10),
		Features:                features,
		MetricOptions:           &controller.MetricOptions{PollStateMetricInterval: c.Poll, MRMetrics: recorder, MRStateMetrics: states},
	}, nil
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
