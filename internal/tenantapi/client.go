// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// anyAPI stands for the address of whichever API a request is meant for.
const anyAPI = "https://tenant.invalid"

// errNoAPI says that a request was not made through a [liveClient].
var errNoAPI = errors.New("the request is meant for no tenant's API")

// sharedClient makes the client that all tenants share. Its codecs, and its REST client of
// each kind, are the same for all, and would be most of what the clients of one hold.
var sharedClient = sync.OnceValues(func() (client.WithWatch, error) {
	cfg := &rest.Config{
		Host:      anyAPI,
		UserAgent: userAgent,
		QPS:       -1, // The API server's own fairness limits the rate.
	}

	return client.NewWithWatch(cfg, client.Options{HTTPClient: &http.Client{Transport: router{}}, Scheme: scheme, Mapper: mapper})
})

// router sends each request to the API that its context names.
type router struct{}

type apiKey struct{}

// RoundTrip passes the request on. What a redirect leads to is where it says.
func (router) RoundTrip(r *http.Request) (*http.Response, error) {
	to, ok := r.Context().Value(apiKey{}).(*liveClient)
	if !ok {
		return nil, errNoAPI
	}

	if r.URL.Scheme+"://"+r.URL.Host != anyAPI {
		return to.transport.RoundTrip(r)
	}

	r = r.Clone(r.Context())
	r.Host, r.URL.Scheme, r.URL.Host = "", to.server.Scheme, to.server.Host

	if redirected := r.Response != nil; !redirected {
		r.URL.Path = strings.TrimSuffix(to.server.Path, "/") + r.URL.Path
	}

	return to.transport.RoundTrip(r)
}

// liveClient is the shared client for the API of one tenant. It knows no subresources.
type liveClient struct {
	client.WithWatch

	server    *url.URL
	transport http.RoundTripper
}

// newLiveClient is for the API at that address, through that transport.
func newLiveClient(address string, t http.RoundTripper) (*liveClient, error) {
	server, err := url.Parse(address)
	if err != nil {
		return nil, err
	}

	shared, err := sharedClient()

	return &liveClient{WithWatch: shared, server: server, transport: t}, err
}

// to names this API for the requests of ctx.
func (c *liveClient) to(ctx context.Context) context.Context {
	return context.WithValue(ctx, apiKey{}, c)
}

// named has an error of a request say to which API it was.
func (c *liveClient) named(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		if path, ok := strings.CutPrefix(failed.URL, anyAPI); ok {
			failed.URL = strings.TrimSuffix(c.server.String(), "/") + path
		}
	}

	return err
}

func (c *liveClient) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return c.named(c.WithWatch.Get(c.to(ctx), key, o, opts...))
}

func (c *liveClient) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	return c.named(c.WithWatch.List(c.to(ctx), l, opts...))
}

func (c *liveClient) Watch(ctx context.Context, l client.ObjectList, opts ...client.ListOption) (watch.Interface, error) {
	w, err := c.WithWatch.Watch(c.to(ctx), l, opts...)
	return w, c.named(err)
}

func (c *liveClient) Apply(ctx context.Context, o runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	return c.named(c.WithWatch.Apply(c.to(ctx), o, opts...))
}

func (c *liveClient) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	return c.named(c.WithWatch.Create(c.to(ctx), o, opts...))
}

func (c *liveClient) Delete(ctx context.Context, o client.Object, opts ...client.DeleteOption) error {
	return c.named(c.WithWatch.Delete(c.to(ctx), o, opts...))
}

func (c *liveClient) DeleteAllOf(ctx context.Context, o client.Object, opts ...client.DeleteAllOfOption) error {
	return c.named(c.WithWatch.DeleteAllOf(c.to(ctx), o, opts...))
}

func (c *liveClient) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	return c.named(c.WithWatch.Update(c.to(ctx), o, opts...))
}

func (c *liveClient) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	return c.named(c.WithWatch.Patch(c.to(ctx), o, p, opts...))
}
