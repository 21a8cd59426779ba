// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
	"github.com/kubeopera/provider-kubeopera/internal/glance"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/host"
	"github.com/kubeopera/provider-kubeopera/internal/quota"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// injectedKey stands for the cluster that the provider runs in.
const injectedKey = "injected"

// downloadWait is how long a pass waits for a chart. A slower download goes on
// without it.
const downloadWait = 10 * time.Second

// brief is how long a pass waits for a chart that it can do without.
const brief = 50 * time.Millisecond

var errNotTenant = errors.New("not a Tenant")

// connector makes the external client of one Tenant for one pass.
type connector struct {
	kube     client.Client
	kubeLive client.Reader
	// metadata is the cache of that of Secrets which the provider made.
	metadata client.Reader
	looks    *glance.Memory
	injected *rest.Config
	hosts    *host.Pool
	waker    *reconciler.Waker
	tenants  *tenantapi.Pool
	charts   *helm.ChartCache
	track    func(ctx context.Context, kube client.Client, mg resource.ModernManaged) error
	hold     func(ctx context.Context, o resource.Object) error
	record   event.Recorder
	clock    clock.PassiveClock
	failures *failures
	stages   *stopwatch
	places   *places
	unseen   *unseen
	defaults defaults
	reports  bool
}

var _ managed.TypedExternalConnector[*v1alpha1.Tenant] = &connector{}

// external is the client of one Tenant for one pass. Create, Update and Delete
// act on what Observe saw in the same pass.
type external struct {
	kube     client.Client // where Tenants live
	kubeLive client.Reader // the same, past its cache
	cached   client.Reader // the host, watched kinds only
	live     client.Client // the host
	// clusterID is the id of the host cluster, which does not ask for it each time.
	clusterID func(ctx context.Context) (string, error)
	helm      helm.Client
	open      func(k *vcluster.Kubeconfig) (*wayIn, error)
	// wakeAfter has the Tenant looked at again after that time.
	wakeAfter func(d time.Duration)
	// hold adds the finalizer, so that the Tenant does not go without a last report.
	hold func(ctx context.Context, o resource.Object) error
	// keep what a look found that finds the same until something changes.
	keep   func(found managed.ExternalObservation)
	record event.Recorder
	clock  clock.PassiveClock

	chart     func(ctx context.Context, version string) (*helm.Chart, error)
	fluxChart func(ctx context.Context, version string) (*helm.Chart, error)
	// fluxNeeds is what Flux's pods need; an error says that it is not known yet.
	fluxNeeds func(ctx context.Context, d desired) (quota.Allowance, error)

	failures *failures
	stages   *stopwatch
	unseen   *unseen
	names    names
	defaults defaults
	before   v1alpha1.TenantStatus
	// reports says that kubeopera-api is told.
	reports bool
	// waking says that the Tenant is to be looked at again after some time.
	waking bool
	// retry says that a person asked for an attempt now.
	retry bool

	// hostID is the id of the host cluster, once checkHost found it right.
	hostID string
	seen   *facts
	left   remains
	// identified says that the Tenant's names were found to be its own.
	identified bool
	// settled is the Tenant once its status was settled, at that version.
	settled        *v1alpha1.Tenant
	settledVersion string
	// completed is when this pass saw stages complete that were not before.
	completed map[xpv2.ConditionType]time.Time
}

var _ managed.TypedExternalClient[*v1alpha1.Tenant] = &external{}

// Connect finds out on which host the Tenant lives and with what defaults. It does
// without if a glance shows that nothing has changed.
func (c *connector) Connect(ctx context.Context, t *v1alpha1.Tenant) (managed.TypedExternalClient[*v1alpha1.Tenant], error) {
	if found, ok := c.looks.Same(ctx, t); ok {
		return glance.Seen[*v1alpha1.Tenant](found), nil
	}

	look := &glance.Look{}
	e := &external{
		kube:      look.OfManager(c.kube, c.metadata),
		kubeLive:  c.kubeLive,
		open:      c.opener(t, look),
		wakeAfter: func(d time.Duration) { c.waker.WakeAfter(client.ObjectKeyFromObject(t), d) },
		hold:      c.hold,
		keep:      func(found managed.ExternalObservation) { c.looks.Keep(t, look, found) },
		record:    c.record,
		clock:     c.clock,
		failures:  c.failures,
		stages:    c.stages,
		unseen:    c.unseen,
		names:     namesOf(t),
		defaults:  c.defaults,
		before:    *t.Status.DeepCopy(),
		reports:   c.reports,
		retry:     retryRequested(t),
	}

	if len(t.Status.Conditions) == 0 {
		c.stages.mark(t, created, c.clock.Now())
	}

	if err := c.connect(ctx, t, e, look); err != nil {
		if !meta.WasDeleted(t) {
			e.reportUnknown(t, err)
			return nil, err
		}

		if e.letsGo(t, err) {
			return abandoned(), nil
		}

		return nil, err
	}

	return e, nil
}

// forget what is kept of a Tenant beside the cluster, which is gone.
func (c *connector) forget(t *v1alpha1.Tenant) {
	c.looks.Forget(t)
	c.failures.forgetTenant(t)
	c.stages.forget(t)
	c.places.forget(t.GetUID())
	c.unseen.forget(t.GetUID())
	c.tenants.Drop(t.GetUID())
}

// Disconnect tells of what the pass changed, if that was stored. It closes nothing: the host's clients
// serve other Tenants, and those inside the vCluster the next pass.
func (e *external) Disconnect(context.Context) error {
	if t := e.settled; t != nil && t.GetResourceVersion() != e.settledVersion {
		e.tellTransitions(t)
	}

	return nil
}

func (c *connector) connect(ctx context.Context, t *v1alpha1.Tenant, e *external, look *glance.Look) error {
	// The usage of a Tenant that is going cannot always be written: its
	// namespace may be going as well.
	if err := c.track(ctx, e.kube, t); err != nil && !meta.WasDeleted(t) {
		return fmt.Errorf("cannot track the usage of the provider configuration: %w", err)
	}

	at, err := c.find(ctx, e.kube, look.Cached(c.kubeLive), t)
	if err != nil {
		return unfound(t, err)
	}

	cfg := at.config

	// A deletion reads no cache, so that it goes on with a host whose objects cannot be watched.
	h, err := c.hosts.Get(ctx, at.key, at.open)
	if err != nil && (h == nil || !meta.WasDeleted(t)) {
		return notAnswered(fmt.Errorf("cannot use the host cluster of %s: %w", cfg.name, err))
	}

	// What has no finalizer goes without a word, and its way in is not to stay here.
	if !meta.FinalizerExists(t, managed.FinalizerName) {
		at.open = nil
	}

	// What failed by the configuration as it was is to be tried at once.
	if c.places.keep(t.GetUID(), at) {
		c.failures.forget(t, parts...)
	}

	e.cached, e.live, e.clusterID = look.Cached(h.Cached), look.Live(h.Live, h.Cached), h.ClusterID
	e.helm = newLookingHelm(h.Helm.Client(e.names.namespace), look)
	e.defaults.HostDefaults, e.defaults.isolatedBy = cfg.host, cfg.isolatedBy

	if cfg.chart.Version != "" {
		e.defaults.chartVersion, e.defaults.chartVersionFrom = cfg.chart.Version, "chart.version of "+cfg.name
	}

	if cfg.fluxChart.Version != "" {
		e.defaults.fluxChartVersion = cfg.fluxChart.Version
	}

	e.chart = c.getter(e.kube, cfg.chart, downloadWait)
	e.fluxChart = c.getter(e.kube, cfg.fluxChart, downloadWait)
	e.fluxNeeds = c.fluxNeeds(e.kube, cfg.fluxChart)

	return nil
}

// getter fetches charts from there, and waits so long for a download.
func (c *connector) getter(kube client.Reader, from chartSource, wait time.Duration) func(context.Context, string) (*helm.Chart, error) {
	return func(ctx context.Context, version string) (*helm.Chart, error) {
		ctx, cancel := context.WithTimeout(ctx, wait)
		defer cancel()

		ref, err := from.ref(ctx, kube, version)
		if err != nil {
			return nil, err
		}

		return c.charts.Get(ctx, ref)
	}
}

// fluxNeeds computes what Flux needs from its chart. It does not wait for one
// that is not here yet.
func (c *connector) fluxNeeds(kube client.Reader, from chartSource) func(context.Context, desired) (quota.Allowance, error) {
	get := c.getter(kube, from, brief)

	return func(ctx context.Context, d desired) (quota.Allowance, error) {
		chart, err := get(ctx, d.chartVersion)
		if err != nil {
			return quota.Allowance{}, err
		}

		return flux.Footprint(chart, d.values)
	}
}

// find the host cluster of the Tenant. One that is being deleted is taken down where it
// was found last, when what says where it is is gone.
func (c *connector) find(ctx context.Context, kube, live client.Reader, t *v1alpha1.Tenant) (place, error) {
	at, err := c.placeOf(ctx, kube, live, t)
	if err == nil || !kerrors.IsNotFound(err) || !meta.WasDeleted(t) {
		return at, err
	}

	if last, ok := c.places.last(t.GetUID()); ok {
		return last, nil
	}

	return at, err
}

func (c *connector) placeOf(ctx context.Context, kube, live client.Reader, t *v1alpha1.Tenant) (place, error) {
	cfg, err := readConfig(ctx, kube, t)
	if err != nil {
		return place{}, err
	}

	// What was made when it was allowed is taken down all the same.
	if !meta.WasDeleted(t) {
		if err := cfg.allow(ctx, live, t.GetNamespace()); err != nil {
			return place{}, err
		}
	}

	switch cfg.credentials.Source {
	case xpv2.CredentialsSourceInjectedIdentity:
		return place{config: cfg, key: injectedKey, open: func() (*rest.Config, error) { return c.injected, nil }}, nil
	case xpv2.CredentialsSourceSecret:
		raw, err := secretKey(ctx, kube, cfg.credentials.SecretRef)
		if err != nil {
			return place{}, fmt.Errorf("cannot use the host cluster of %s: %w", cfg.name, err)
		}

		sum := sha256.Sum256(raw)

		return place{config: cfg, key: hex.EncodeToString(sum[:]), open: func() (*rest.Config, error) {
			k, err := host.ParseKubeconfig(raw)
			if ref := cfg.credentials.SecretRef; err != nil {
				return nil, fmt.Errorf("key %q of Secret %q in namespace %q: %w", ref.Key, ref.Name, ref.Namespace, err)
			}

			return k, nil
		}}, nil
	default:
		return place{}, fmt.Errorf("cannot use the host cluster of %s: credentials.source %q is not supported: use InjectedIdentity or Secret",
			cfg.name, cfg.credentials.Source)
	}
}

func secretKey(ctx context.Context, c client.Reader, ref *xpv2.SecretKeySelector) ([]byte, error) {
	if ref == nil {
		return nil, errors.New("credentials.secretRef is required when credentials.source is Secret")
	}

	s := &corev1.Secret{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, s); err != nil {
		return nil, fmt.Errorf("cannot read Secret %q in namespace %q: %w", ref.Name, ref.Namespace, err)
	}

	raw, ok := s.Data[ref.Key]
	if !ok {
		return nil, fmt.Errorf("cannot find key %q in Secret %q in namespace %q", ref.Key, ref.Name, ref.Namespace)
	}

	return raw, nil
}
