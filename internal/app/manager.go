// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"os"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/customresourcesgate"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/report"
)

const (
	// leaseName is the provider's own: two providers must not share one.
	leaseName = "provider-kubeopera.kubeopera.io"
	// namespaceOutside is the provider's when it runs in no pod.
	namespaceOutside = "kubeopera-system"
	// podNamespaceFile exists in each pod with a service account.
	podNamespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"
)

// newManager makes the manager with its caches and metrics, and no controller yet.
func newManager(cluster *rest.Config, c Config, log logr.Logger) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(cluster, ctrl.Options{
		Scheme:                        scheme,
		Logger:                        log,
		Cache:                         cacheOptions(c),
		Client:                        client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
		Metrics:                       metricsserver.Options{BindAddress: c.MetricsAddress},
		HealthProbeBindAddress:        "0", // They are served by addProbes.
		PprofBindAddress:              c.PprofAddress,
		LeaderElection:                c.LeaderElection,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       podNamespace(c.PodNamespace, podNamespaceFile),
		LeaderElectionResourceLock:    resourcelock.LeasesResourceLock,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot make the manager: %w", err)
	}
	return mgr, nil
}

// newScheme knows Kubernetes' own kinds, CRDs and ours.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("cannot register kinds: %w", err)
		}
	}
	return scheme, nil
}

// cacheOptions keep other people's Secrets and ConfigMaps out of memory: reads of
// Secrets are live, and the watches see only those that the provider made. Of CRDs
// they keep the names, and of nothing who owns which field.
func cacheOptions(c Config) cache.Options {
	return cache.Options{
		SyncPeriod:       &c.Sync,
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Secret{}:    {Label: labels.SelectorFromSet(labels.Set{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy})},
			&corev1.ConfigMap{}: report.OutboxCache(podNamespace(c.PodNamespace, podNamespaceFile)),

			&apiextensionsv1.CustomResourceDefinition{}: {Transform: customresourcesgate.TransformStripCRDSchema},
		},
	}
}

// podNamespace is the namespace asked for, or else the pod's own.
func podNamespace(asked, podFile string) string {
	if asked != "" {
		return asked
	}
	if own, err := os.ReadFile(podFile); err == nil && len(own) > 0 {
		return strings.TrimSpace(string(own))
	}
	return namespaceOutside
}
