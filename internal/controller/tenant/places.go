// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// place is the host cluster of a Tenant: what its provider configuration says, and how
// it is reached.
type place struct {
	config config
	// key stands for one set of credentials, open makes a client configuration of them;
	// nil if they are not to be remembered.
	key  string
	open func() (*rest.Config, error)
}

// places remember where Tenants were found last. With a namespace that is deleted as a
// whole, its ProviderConfig and the Secret of that go before the Tenants that use
// them, which could then not be taken down. They are lost with the process.
type places struct {
	mu sync.Mutex
	of map[types.UID]place
}

func newPlaces() *places { return &places{of: map[types.UID]place{}} }

// keep where the Tenant was found, and say whether it was by another state of its
// provider configuration than before.
func (p *places) keep(tenant types.UID, at place) bool {
	p.mu.Lock()
	defer p.mu.Unlock()

	was, ok := p.of[tenant]
	p.of[tenant] = at

	return ok && was.config.version != at.config.version
}

func (p *places) last(tenant types.UID) (place, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()

	at, ok := p.of[tenant]

	return at, ok && at.open != nil
}

func (p *places) forget(tenant types.UID) {
	p.mu.Lock()
	defer p.mu.Unlock()

	delete(p.of, tenant)
}
