// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// HostFault is what a FaultProxy does to requests. The zero value does nothing.
type HostFault struct {
	// Delay of each request. Of a watch it delays the beginning only.
	Delay time.Duration
	// RefuseWrites answers all that is no read with this code: 403, 429 or 500.
	RefuseWrites int
	// ResetEvery cuts the connection of each nth request, with a TCP reset.
	ResetEvery int
}

// HostFaultCounts are the requests that a FaultProxy got and spoiled.
type HostFaultCounts struct {
	Requests int `json:"requests"`
	Delayed  int `json:"delayed"`
	Refused  int `json:"refused"`
	Reset    int `json:"reset"`
	// CutWatches that were ended by CutWatches.
	CutWatches int `json:"cutWatches"`
	// Outages are how often the API was down.
	Outages int `json:"outages"`
}

// FaultProxy is a fake of a bad network and a bad API server: it stands between one
// client and the real host API, and spoils requests as asked. What it lets
// through is the real API's. It is safe for concurrent use.
type FaultProxy struct {
	id      Identity
	forward http.Handler

	mu      sync.Mutex
	address string  // with the port, from the first server on
	server  *Server // nil while the API is down
	fault   HostFault
	counts  HostFaultCounts
	watches map[int]context.CancelFunc // by the number of their request
}

// connectionKey is that of the connection in the context of a request.
type connectionKey struct{}

// StartFaultProxy starts a proxy to the API server of cfg on a port of this
// machine. Who calls through it brings credentials of their own. The caller stops it
// by Down.
func StartFaultProxy(ctx context.Context, cfg *rest.Config) (*FaultProxy, error) {
	to, err := url.Parse(cfg.Host)
	if err != nil || to.Host == "" {
		return nil, fmt.Errorf("cannot use %q as the API server's address: %w", cfg.Host, errors.Join(err, errors.ErrUnsupported))
	}

	transport, err := rest.TransportFor(rest.AnonymousClientConfig(cfg))
	if err != nil {
		return nil, fmt.Errorf("cannot make a transport to %q: %w", cfg.Host, err)
	}

	id, err := NewIdentity()
	if err != nil {
		return nil, err
	}

	forward := ForwardTo(to, transport)
	// The client sees a cut connection, as it would without a proxy.
	forward.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }

	p := &FaultProxy{id: id, forward: forward, address: "127.0.0.1:0", watches: map[int]context.CancelFunc{}}

	return p, p.Up(ctx)
}

// Kubeconfig is the given one with the proxy for its server.
func (p *FaultProxy) Kubeconfig(raw []byte) ([]byte, error) {
	cfg, err := clientcmd.Load(raw)
	if err != nil {
		return nil, fmt.Errorf("cannot read the kubeconfig: %w", err)
	}

	p.mu.Lock()
	defer p.mu.Unlock()

	for _, c := range cfg.Clusters {
		c.Server, c.CertificateAuthorityData = "https://"+p.address, p.id.Cert
	}

	out, err := clientcmd.Write(*cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot write the kubeconfig: %w", err)
	}

	return out, nil
}

// Set what is done to the requests that come from now on.
func (p *FaultProxy) Set(f HostFault) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.fault = f
}

// CutWatches ends all watches that are open, and says how many.
func (p *FaultProxy) CutWatches() int {
	p.mu.Lock()
	defer p.mu.Unlock()

	for _, end := range p.watches {
		end()
	}

	p.counts.CutWatches += len(p.watches)

	return len(p.watches)
}

// Counts of the requests so far.
func (p *FaultProxy) Counts() HostFaultCounts {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.counts
}

// Down cuts all connections, and refuses new ones until Up. It does nothing if the API
// is down already.
func (p *FaultProxy) Down() error {
	p.mu.Lock()

	s := p.server
	if s != nil {
		p.server = nil
		p.counts.Outages++
	}

	p.mu.Unlock()

	if s == nil {
		return nil
	}

	return s.Close()
}

// Up listens again, on the same port. It does nothing if the API is up.
func (p *FaultProxy) Up(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()

	if p.server != nil {
		return nil
	}

	config, err := p.id.tls()
	if err != nil {
		return err
	}

	s, err := serve(ctx, p.address, &http.Server{ //nolint:gosec // serve bounds the header.
		Handler:   http.HandlerFunc(p.serve),
		TLSConfig: config,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, c)
		},
	})
	if err != nil {
		return fmt.Errorf("cannot start the fault proxy: %w", err)
	}

	p.server, p.address = s, s.address

	return nil
}

// serve spoils a request or passes it on.
func (p *FaultProxy) serve(w http.ResponseWriter, r *http.Request) {
	ctx, end := context.WithCancel(r.Context())
	defer end()

	number, f := p.arrived(r, end)
	defer p.left(number)

	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-ctx.Done():
			panic(http.ErrAbortHandler)
		}
	}

	switch {
	case f.ResetEvery > 0:
		reset(r)
		panic(http.ErrAbortHandler)
	case f.RefuseWrites > 0:
		refuse(w, f.RefuseWrites)
	default:
		p.forward.ServeHTTP(w, r.WithContext(ctx))
	}
}

// arrived counts a request, and says what is to be done to just this one.
func (p *FaultProxy) arrived(r *http.Request, end context.CancelFunc) (number int, f HostFault) {
	p.mu.Lock()
	defer p.mu.Unlock()

	p.counts.Requests++
	number, f = p.counts.Requests, p.fault

	if r.URL.Query().Get("watch") != "" {
		p.watches[number] = end
	}

	if f.Delay > 0 {
		p.counts.Delayed++
	}

	if f.ResetEvery > 0 && number%f.ResetEvery == 0 {
		p.counts.Reset++
		f.RefuseWrites = 0
	} else {
		f.ResetEvery = 0
	}

	if f.RefuseWrites > 0 && r.Method != http.MethodGet && r.Method != http.MethodHead {
		p.counts.Refused++
	} else {
		f.RefuseWrites = 0
	}

	return number, f
}

func (p *FaultProxy) left(number int) {
	p.mu.Lock()
	defer p.mu.Unlock()

	delete(p.watches, number)
}

// reset closes the connection that a request came by, in the rudest way.
func reset(r *http.Request) {
	c, ok := r.Context().Value(connectionKey{}).(*tls.Conn)
	if !ok {
		return
	}

	if t, ok := c.NetConn().(*net.TCPConn); ok {
		_ = t.SetLinger(0) // Without it the connection ends in order.
	}

	_ = c.NetConn().Close()
}

// refuse answers as an API server does.
func refuse(w http.ResponseWriter, code int) {
	why := errors.New("the fault proxy refuses writes")
	err := kerrors.NewInternalError(why)

	switch code {
	case http.StatusForbidden:
		err = kerrors.NewForbidden(schema.GroupResource{Resource: "all"}, "any", why)
	case http.StatusTooManyRequests:
		err = kerrors.NewTooManyRequests(why.Error(), 1)
		// The client of Go itself tries again then, and only then.
		w.Header().Set("Retry-After", "1")
	}

	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(err.ErrStatus) // The client may have gone.
}
