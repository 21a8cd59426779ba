// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package host talks to host clusters: one set of clients, caches and watches
// for each, shared by all Tenants on it.
package host

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/answers"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/isolation"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// UserAgent names the writer in a host's audit log.
const UserAgent = "provider-kubeopera"

// Host is one host cluster.
type Host struct {
	// Cached reads the watched kinds: the namespaces, quotas, limit ranges and
	// NetworkPolicies that the provider made, the workloads and Services of
	// vClusters, and where the host's own API is. It sees only those that carry their
	// labels, so that what it does not find may still exist, and leaves out what nobody
	// asks for, see slim. Any other kind is an error, and so is any read once the host has
	// refused to have some kind watched for minutes. That it does not answer at all is told
	// by what is read live.
	Cached client.Reader
	// Live reads and writes at the API server.
	Live client.Client
	// Helm works on the releases of this host.
	Helm *helm.Host

	// id is the cluster's, once it was asked.
	id atomic.Pointer[string]
	// unchecked is the cache, however old.
	unchecked client.Reader
	trouble   *trouble
	// ready is closed once the caches are filled.
	ready chan struct{}
}

// watched are the kinds that a change of wakes a Tenant. The exported kubeconfig
// is watched without its body.
func watched() map[client.Object]cache.ByObject {
	with := func(label, value string) cache.ByObject {
		return cache.ByObject{Label: labels.SelectorFromSet(labels.Set{label: value})}
	}

	ours := with(v1alpha1.LabelManagedBy, v1alpha1.ManagedBy)
	vclusters := cache.ByObject{Label: byVCluster()}
	ownAPI := with(discoveryv1.LabelServiceName, isolation.APIService)
	ownAPI.Namespaces = map[string]cache.Config{isolation.APINamespace: {}}

	return map[client.Object]cache.ByObject{
		&corev1.Namespace{}:           ours,
		&corev1.ResourceQuota{}:       ours,
		&corev1.LimitRange{}:          ours,
		&networkingv1.NetworkPolicy{}: ours,
		&discoveryv1.EndpointSlice{}:  ownAPI,
		&appsv1.StatefulSet{}:         vclusters,
		&appsv1.Deployment{}:          vclusters,
		&corev1.Service{}:             vclusters,
		exportedSecret():              vclusters,
	}
}

// byVCluster selects what the charts make: the control plane, and an etcd of its own.
func byVCluster() labels.Selector {
	r, err := labels.NewRequirement(vcluster.LabelApp, selection.In, []string{vcluster.AppName, vcluster.EtcdAppName})
	if err != nil { // These are labels.
		return labels.Nothing()
	}

	return labels.NewSelector().Add(*r)
}

// Watches says that a workload or Service with the labels of o is in Cached.
func Watches(o client.Object) bool { return byVCluster().Matches(labels.Set(o.GetLabels())) }

func exportedSecret() client.Object {
	s := &metav1.PartialObjectMetadata{}
	s.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))

	return s
}

// newHost makes the clients of the cluster that cfg points to and starts its
// caches, which stop with ctx. Changes of what a Tenant owns are told to notify.
func newHost(ctx context.Context, cfg *rest.Config, notify Notify) (*Host, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = UserAgent
	cfg.QPS = -1 // The API server's own fairness limits the rate.
	answers.Check(cfg)
	answers.Bound(cfg, answers.OfHost)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return countingTransport{next: next} })

	httpClient, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot make an HTTP client for the host cluster: %w", err)
	}

	mapper, err := apiutil.NewDynamicRESTMapper(cfg, httpClient)
	if err != nil {
		return nil, fmt.Errorf("cannot map the host cluster's kinds: %w", err)
	}

	live, err := client.New(cfg, client.Options{HTTPClient: httpClient, Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for the host cluster: %w", err)
	}

	kinds, t := watched(), newTrouble(clock.RealClock{})

	c, err := cache.New(cfg, cache.Options{
		HTTPClient:                  httpClient,
		Mapper:                      mapper,
		ByObject:                    kinds,
		DefaultTransform:            slim,
		DefaultWatchErrorHandler:    t.handle,
		ReaderFailOnMissingInformer: true,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot make a cache for the host cluster: %w", err)
	}

	if err := c.IndexField(ctx, &corev1.Namespace{}, IndexTenantID, TenantIDOf); err != nil {
		return nil, fmt.Errorf("cannot index the host cluster's namespaces: %w", err)
	}

	h, err := helm.NewHost(cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot make a Helm client for the host cluster: %w", err)
	}

	out := &Host{Cached: watchedReader{c, t}, Live: live, Helm: h, unchecked: c, trouble: t, ready: make(chan struct{})}

	return out, out.watch(ctx, c, kinds, notify)
}

// watch starts the caches of these kinds.
func (h *Host) watch(ctx context.Context, c cache.Cache, kinds map[client.Object]cache.ByObject, notify Notify) error {
	for o := range kinds {
		i, err := c.GetInformer(ctx, o, cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("cannot watch %T on the host cluster: %w", o, err)
		}

		if _, err := i.AddEventHandler(h.handler(ctx, notify)); err != nil {
			return fmt.Errorf("cannot watch %T on the host cluster: %w", o, err)
		}
	}

	go func() {
		// It errs only when started twice.
		_ = c.Start(ctx)
	}()
	go func() {
		if c.WaitForCacheSync(ctx) {
			close(h.ready)
		}
	}()

	return nil
}

// handler tells which Tenants the changed object concerns.
func (h *Host) handler(ctx context.Context, notify Notify) toolscache.ResourceEventHandler {
	tell := func(obj any, listed bool) {
		if gone, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
			obj = gone.Obj
		}

		o, ok := obj.(client.Object)
		if !ok {
			return
		}

		for _, t := range h.concernedBy(ctx, o) {
			notify(t, listed)
		}
	}

	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: tell,
		UpdateFunc: func(before, after any) {
			b, isObject := before.(client.Object)
			if a, ok := after.(client.Object); ok && isObject && matters(b, a) {
				tell(a, false)
			}
		},
		DeleteFunc: func(obj any) { tell(obj, false) },
	}
}

// concernedBy is who owns the object, or all Tenants on the host if it says where the
// host's API is.
func (h *Host) concernedBy(ctx context.Context, o client.Object) []types.NamespacedName {
	if _, ok := o.(*discoveryv1.EndpointSlice); !ok {
		if t, ok := h.ownerOf(ctx, o); ok {
			return []types.NamespacedName{t}
		}

		return nil
	}

	all := &corev1.NamespaceList{}
	if err := h.unchecked.List(ctx, all); err != nil {
		return nil // The poll finds what the cache cannot tell.
	}

	var out []types.NamespacedName

	for i := range all.Items {
		if t, ok := TenantOf(&all.Items[i]); ok {
			out = append(out, t)
		}
	}

	return out
}

// ownerOf is the Tenant that is named on the namespace of the object, or else on the
// object. What a virtual cluster syncs has the labels and annotations that its tenant
// chose, and is nobody's.
func (h *Host) ownerOf(ctx context.Context, o client.Object) (types.NamespacedName, bool) {
	if _, synced := o.GetLabels()[vcluster.LabelSyncedBy]; synced {
		return types.NamespacedName{}, false
	}

	if o.GetNamespace() == "" {
		return TenantOf(o)
	}

	// A namespace that is gone already is not in the cache any more.
	ns := &corev1.Namespace{}
	if err := h.unchecked.Get(ctx, types.NamespacedName{Name: o.GetNamespace()}, ns); err != nil {
		return TenantOf(o)
	}

	if t, ok := TenantOf(ns); ok {
		return t, true
	}

	return TenantOf(o)
}

// wait until the caches are filled, or until it is known why they cannot be.
func (h *Host) wait(ctx context.Context) error {
	select {
	case <-h.ready:
		return nil
	default:
	}

	select {
	case <-h.ready:
		return nil
	case <-h.trouble.first:
		return fmt.Errorf("%w: %w", ErrUnreachable, h.trouble.last())
	case <-ctx.Done():
		return fmt.Errorf("%w: its objects could not be listed within %s", ErrUnreachable, startWait)
	}
}
