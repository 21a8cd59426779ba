// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/kube"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

const (
	// capabilitiesAge is how old the knowledge may be of which APIs a host
	// serves, as templates see it. Mapping a kind to its API does not depend on
	// it: an unknown kind is looked up at once.
	capabilitiesAge = time.Minute

	// allowedAge is how old the knowledge may be that a host allows to keep releases.
	allowedAge = time.Minute

	// discoveryTimeout bounds a look at which APIs a host serves.
	discoveryTimeout = 30 * time.Second
)

// Host is one host cluster. What is known of its APIs is shared by all clients
// made from it, so make one Host a cluster and keep it. It is safe for
// concurrent use.
type Host struct {
	// config reaches the host through transport, which holds all that was said
	// of TLS and credentials.
	config    *rest.Config
	transport http.RoundTripper

	mapper   meta.RESTMapper
	core     corev1client.CoreV1Interface
	metadata metadata.Interface
	access   authorizationv1client.AuthorizationV1Interface

	flights singleflight.Group
	mu      sync.Mutex
	caps    *chartutil.Capabilities
	capsAt  time.Time
	// allowedAt is when the host last allowed all of recordVerbs in every namespace.
	allowedAt time.Time
}

var nameFieldManager = sync.OnceFunc(func() { kube.ManagedFieldsManager = providerName })

// NewHost returns the host cluster that cfg reaches. It makes no call to it.
// cfg is copied and not changed.
func NewHost(cfg *rest.Config) (*Host, error) {
	nameFieldManager()

	transport, err := rest.TransportFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot make a transport to host %q: %w", cfg.Host, err)
	}
	u, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot understand host address %q: %w", cfg.Host, err)
	}

	h := &Host{
		transport: transport,
		config: &rest.Config{
			Host:                      u.String(),
			Transport:                 transport,
			UserAgent:                 cfg.UserAgent,
			Timeout:                   cfg.Timeout,
			RateLimiter:               cfg.RateLimiter,
			QPS:                       -1, // the API server's own fairness limits better
			WarningHandler:            cfg.WarningHandler,
			WarningHandlerWithContext: cfg.WarningHandlerWithContext,
		},
	}

	hc := &http.Client{Transport: transport, Timeout: cfg.Timeout}
	if h.core, err = corev1client.NewForConfigAndClient(h.config, hc); err != nil {
		return nil, fmt.Errorf("cannot make a client for host %q: %w", cfg.Host, err)
	}
	if h.metadata, err = metadata.NewForConfigAndClient(h.config, hc); err != nil {
		return nil, fmt.Errorf("cannot make a metadata client for host %q: %w", cfg.Host, err)
	}
	if h.access, err = authorizationv1client.NewForConfigAndClient(h.config, hc); err != nil {
		return nil, fmt.Errorf("cannot make an authorization client for host %q: %w", cfg.Host, err)
	}
	// The mapper takes no context and holds a lock while it asks.
	h.mapper, err = apiutil.NewDynamicRESTMapper(h.config, &http.Client{Transport: transport, Timeout: discoveryTimeout})
	if err != nil {
		return nil, fmt.Errorf("cannot make a REST mapper for host %q: %w", cfg.Host, err)
	}
	return h, nil
}

// Client returns the client for the releases in namespace.
func (h *Host) Client(namespace string, opts ...Option) Client {
	return h.client(namespace, opts...)
}

func (h *Host) client(namespace string, opts ...Option) *client {
	return &client{
		namespace:   namespace,
		options:     newOptions(opts),
		hookTimeout: hookTimeout,
		secrets:     h.core.Secrets(namespace),
		records: func(ctx context.Context, name string) ([]metav1.ObjectMeta, error) {
			l, err := h.metadata.Resource(corev1.SchemeGroupVersion.WithResource("secrets")).Namespace(namespace).
				List(ctx, metav1.ListOptions{LabelSelector: notSynced(recordSelector(name)), FieldSelector: "type=" + string(recordType)})
			if err != nil {
				return nil, err
			}
			out := make([]metav1.ObjectMeta, len(l.Items))
			for i := range l.Items {
				out[i] = l.Items[i].ObjectMeta
			}
			return out, nil
		},
		forbidden: func(ctx context.Context) ([]string, error) { return h.forbidden(ctx, namespace) },
		connect: func(ctx context.Context) *getter {
			return &getter{host: h, ctx: ctx, namespace: namespace}
		},
	}
}

// capabilities says which APIs the host serves, in which version. The result is
// the caller's own.
func (h *Host) capabilities(ctx context.Context) (*chartutil.Capabilities, error) {
	h.mu.Lock()
	caps, at := h.caps, h.capsAt
	h.mu.Unlock()
	if caps != nil && time.Since(at) < capabilitiesAge {
		return caps.Copy(), nil
	}

	const goesOn = "the host is still being asked for its APIs"
	caps, err := share(ctx, &h.flights, "capabilities", discoveryTimeout, goesOn, func(ctx context.Context) (*chartutil.Capabilities, error) {
		caps, err := h.discover(ctx)
		if err != nil {
			return nil, err
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.caps, h.capsAt = caps, time.Now()
		return caps, nil
	})
	if err != nil {
		return nil, err
	}
	return caps.Copy(), nil
}

func (h *Host) discover(ctx context.Context) (*chartutil.Capabilities, error) {
	dc, err := discovery.NewDiscoveryClientForConfig(h.bound(ctx))
	if err != nil {
		return nil, fmt.Errorf("cannot make a discovery client: %w", err)
	}
	v, err := dc.ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("cannot ask the host for its version: %w", err)
	}
	// An API service that is registered but dead must not stop every chart.
	apis, err := action.GetVersionSet(dc)
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, fmt.Errorf("cannot ask the host for its APIs: %w", err)
	}
	return &chartutil.Capabilities{
		APIVersions: apis,
		KubeVersion: chartutil.KubeVersion{Version: v.GitVersion, Major: v.Major, Minor: v.Minor},
		HelmVersion: chartutil.DefaultCapabilities.HelmVersion,
	}, nil
}

// bound returns a config whose every request ends with ctx.
func (h *Host) bound(ctx context.Context) *rest.Config {
	cfg := rest.CopyConfig(h.config)
	cfg.Transport = &boundTransport{ctx: ctx, base: h.transport}
	return cfg
}
