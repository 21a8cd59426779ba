// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// abandonAfter is how long the host of a Tenant that is being deleted has to be unseen
// before it can be given up. Longer than that between two looks is a break: nobody knows
// what was in between.
const abandonAfter = stalledAfter

// unseen remembers since when the hosts of Tenants that are being deleted could not be
// seen, without a break. It is lost with the process, which then waits anew.
type unseen struct {
	mu sync.Mutex
	by map[types.UID]absence
}

// absence of a host, from the first look that did not see it to the last.
type absence struct{ first, last time.Time }

func newUnseen() *unseen { return &unseen{by: map[types.UID]absence{}} }

// since notes that the host of the Tenant is not seen now, and says since when.
func (u *unseen) since(tenant types.UID, now time.Time) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()

	a, ok := u.by[tenant]
	if !ok || now.Sub(a.last) > abandonAfter {
		a.first = now
	}

	a.last = now
	u.by[tenant] = a

	return a.first
}

// forget the Tenant: its host was seen, or it is gone.
func (u *unseen) forget(tenant types.UID) {
	u.mu.Lock()
	defer u.mu.Unlock()

	delete(u.by, tenant)
}
