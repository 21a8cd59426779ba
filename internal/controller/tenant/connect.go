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
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/host"
)

// injectedKey stands for the cluster that the provider runs in.
const injectedKey = "injected"

// downloadWait is how long a pass waits for a chart. A slower download goes on
// without it.
const downloadWait = 10 * time.Second

var errNotTenant = errors.New("not a Tenant")

// connector makes the external client of one Tenant for one pass.
type connector struct {
	kube     client.Client
	injected *rest.Config
	hosts    *host.Pool
	charts   *helm.ChartCache
	track    func(ctx context.Context, mg resource.ModernManaged) error
	record   event.Recorder
	clock    clock.PassiveClock
	failures *failures
	defaults defaults
}

var _ managed.TypedExternalConnector[*v1alpha1.Tenant] = &connector{}

// external is the client of one Tenant for one pass. Create, Update and Delete
// act on what Observe saw in the same pass.
type external struct {
	kube   client.Client // where Tenants live
	cached client.Reader // the host, watched kinds only
	live   client.Client // the host
	helm   helm.Client
	chart  func(ctx context.Context, version string) (*helm.Chart, error)
	probe  func(ctx context.Context, cfg *rest.Config) error
	record event.Recorder
	clock  clock.PassiveClock

	failures *failures
	names    names
	defaults defaults
	before   v1alpha1.TenantStatus
	seen     *facts
	left     remains
}

var _ managed.TypedExternalClient[*v1alpha1.Tenant] = &external{}

// Connect finds out on which host the Tenant lives and with what defaults.
func (c *connector) Connect(ctx context.Context, t *v1alpha1.Tenant) (managed.TypedExternalClient[*v1alpha1.Tenant], error) {
	e := &external{
		kube:     c.kube,
		probe:    probeAPI,
		record:   c.record,
		clock:    c.clock,
		failures: c.failures,
		names:    namesOf(t),
		defaults: c.defaults,
		before:   *t.Status.DeepCopy(),
	}

	if err := c.connect(ctx, t, e); err != nil {
		if meta.WasDeleted(t) {
			e.reportDeletion(t, err.Error()+"; bring back what is missing, or let go of the CloudSpace as it is: "+
				"leave Delete out of spec.managementPolicies")
		} else {
			e.reportUnknown(t, err)
		}

		return nil, err
	}

	return e, nil
}

// Disconnect does nothing: the host's clients serve other Tenants.
func (e *external) Disconnect(context.Context) error { return nil }

func (c *connector) connect(ctx context.Context, t *v1alpha1.Tenant, e *external) error {
	// The usage of a Tenant that is going cannot always be written: its
	// namespace may be going as well.
	if err := c.track(ctx, t); err != nil && !meta.WasDeleted(t) {
		return fmt.Errorf("cannot track the usage of the provider configuration: %w", err)
	}

	cfg, err := readConfig(ctx, c.kube, t)
	if err != nil {
		return err
	}

	h, err := c.host(ctx, cfg)
	if err != nil {
		return fmt.Errorf("cannot use the host cluster of %s: %w", cfg.name, err)
	}

	e.cached, e.live, e.helm = h.Cached, h.Live, h.Helm.Client(e.names.namespace)
	e.defaults.imageRegistry = cfg.imageRegistry

	if cfg.chart.Version != "" {
		e.defaults.chartVersion, e.defaults.chartVersionFrom = cfg.chart.Version, "chart.version of "+cfg.name
	}

	e.chart = func(ctx context.Context, version string) (*helm.Chart, error) {
		ctx, cancel := context.WithTimeout(ctx, downloadWait)
		defer cancel()

		ref, err := cfg.chartRef(ctx, c.kube, version)
		if err != nil {
			return nil, err
		}

		return c.charts.Get(ctx, ref)
	}

	return nil
}

func (c *connector) host(ctx context.Context, cfg config) (*host.Host, error) {
	switch cfg.credentials.Source {
	case xpv2.CredentialsSourceInjectedIdentity:
		return c.hosts.Get(ctx, injectedKey, func() (*rest.Config, error) { return c.injected, nil })
	case xpv2.CredentialsSourceSecret:
		raw, err := secretKey(ctx, c.kube, cfg.credentials.SecretRef)
		if err != nil {
			return nil, err
		}

		sum := sha256.Sum256(raw)

		return c.hosts.Get(ctx, hex.EncodeToString(sum[:]), func() (*rest.Config, error) { return host.ParseKubeconfig(raw) })
	default:
		return nil, fmt.Errorf("credentials.source %q is not supported: use InjectedIdentity or Secret", cfg.credentials.Source)
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
