// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"io"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// getter is how Helm reaches the host during one action: no kubeconfig file, no
// environment, and no call that outlives ctx. It is a
// genericclioptions.RESTClientGetter.
type getter struct {
	host *Host
	//nolint:containedctx // Helm passes none.
	ctx       context.Context
	namespace string

	once      sync.Once
	discovery discovery.CachedDiscoveryInterface
	err       error
}

// ToRESTConfig returns a config of the caller's own.
func (g *getter) ToRESTConfig() (*rest.Config, error) {
	return g.host.bound(g.ctx), nil
}

// ToDiscoveryClient returns a client that remembers for the one action. What is
// shared between actions is the mapper and the capabilities.
func (g *getter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	g.once.Do(func() {
		dc, err := discovery.NewDiscoveryClientForConfig(g.host.bound(g.ctx))
		if err != nil {
			g.err = err
			return
		}
		g.discovery = memory.NewMemCacheClient(dc)
	})
	return g.discovery, g.err
}

// ToRESTMapper returns the host's mapper, which finds kinds that appear later.
func (g *getter) ToRESTMapper() (meta.RESTMapper, error) {
	return g.host.mapper, nil
}

// ToRawKubeConfigLoader returns a loader that knows the namespace and nothing
// else.
func (g *getter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	return clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), &clientcmd.ConfigOverrides{
		Context: clientcmdapi.Context{Namespace: g.namespace},
	})
}

// boundTransport ends each request when ctx does, whatever context the request
// itself carries.
type boundTransport struct {
	//nolint:containedctx // this is what binds requests to it.
	ctx  context.Context
	base http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *boundTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	stop := context.AfterFunc(t.ctx, func() { cancel(context.Cause(t.ctx)) })
	release := func() {
		stop()
		cancel(nil)
	}

	resp, err := t.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		release()
		return nil, err
	}
	resp.Body = &boundBody{ReadCloser: resp.Body, release: release}
	return resp, nil
}

type boundBody struct {
	io.ReadCloser
	release func()
}

func (b *boundBody) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}
