// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package tenantapi reaches the APIs inside vClusters: one set of clients for
// each Tenant, kept from pass to pass and made anew when its credentials change.
package tenantapi

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/answers"
	"github.com/kubeopera/provider-kubeopera/internal/glance"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// userAgent names the writer in a tenant's audit log.
const userAgent = "provider-kubeopera"

// idle is how long the clients of a Tenant stay that nobody asked for. Glances use them
// without asking, for at most half as long.
const idle = 2 * glance.Longest

// API is the way into one vCluster. Every call is bounded by its context only.
type API struct {
	// Live reads and writes at the tenant's API server. It knows the kinds of
	// [Kinds] and no other.
	Live client.WithWatch
	// Helm works on the releases inside the vCluster. It is made when it is first asked
	// for, as not every Tenant has any.
	Helm func() (*helm.Host, error)

	transport    *http.Transport
	followers    followers
	probeTimeout time.Duration
}

// Pool keeps the clients of each Tenant. It is safe for concurrent use.
type Pool struct {
	// ProbeTimeout bounds the question to the API of a Tenant that is asked for
	// from then on.
	ProbeTimeout time.Duration

	clock clock.PassiveClock

	mu   sync.Mutex
	apis map[types.UID]*entry
}

type entry struct {
	api         *API
	credentials [sha256.Size]byte
	wanted      time.Time
}

// NewPool makes an empty pool.
func NewPool() *Pool {
	return &Pool{ProbeTimeout: probeTimeout, clock: clock.RealClock{}, apis: map[types.UID]*entry{}}
}

// Get returns the clients of the Tenant of that UID, for these credentials. It
// makes no call to the tenant's API.
func (p *Pool) Get(tenant types.UID, k *vcluster.Kubeconfig) (*API, error) {
	credentials := k.Fingerprint()

	p.mu.Lock()
	defer p.mu.Unlock()

	p.dropIdle()

	if e, ok := p.apis[tenant]; ok && e.credentials == credentials {
		e.wanted = p.clock.Now()
		return e.api, nil
	}

	a, err := open(k.RESTConfig())
	if err != nil {
		return nil, err
	}

	a.probeTimeout = p.ProbeTimeout

	p.drop(tenant)
	p.apis[tenant] = &entry{api: a, credentials: credentials, wanted: p.clock.Now()}

	return a, nil
}

// Drop closes the clients of the Tenant of that UID. They are made anew when
// they are asked for again, with new connections.
func (p *Pool) Drop(tenant types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.drop(tenant)
}

func (p *Pool) drop(tenant types.UID) {
	if e, ok := p.apis[tenant]; ok {
		e.api.close()
		delete(p.apis, tenant)
	}
}

func (p *Pool) dropIdle() {
	for tenant, e := range p.apis {
		if p.clock.Since(e.wanted) > idle {
			p.drop(tenant)
		}
	}
}

// open makes the clients for cfg.
func open(cfg *rest.Config) (*API, error) {
	t, err := newTransport(cfg)
	if err != nil {
		return nil, err
	}

	with := &rest.Config{
		Host:        cfg.Host,
		BearerToken: cfg.BearerToken,
		Transport:   t,
		UserAgent:   userAgent, // A client that is given its HTTP client adds none.
		QPS:         -1,        // The API server's own fairness limits the rate.
	}
	answers.Check(with)
	answers.Bound(with, answers.OfTenant)

	h, err := rest.HTTPClientFor(with)
	if err != nil {
		return nil, fmt.Errorf("cannot make an HTTP client for the tenant's API: %w", err)
	}

	live, err := newLiveClient(with.Host, h.Transport)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for the tenant's API: %w", err)
	}

	// What is said of credentials is in the transport.
	releases := sync.OnceValues(func() (*helm.Host, error) {
		return helm.NewHost(&rest.Config{Host: live.server.String(), Transport: live.transport, UserAgent: userAgent, QPS: -1})
	})

	return &API{Live: live, Helm: releases, transport: t}, nil
}

func (a *API) close() {
	a.followers.stop()
	a.transport.CloseIdleConnections()
}

// Probe asks the tenant's API for something that only its credentials may read.
func (a *API) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, a.probeTimeout)
	defer cancel()

	return probe(ctx, a.Live)
}
