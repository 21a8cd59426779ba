// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// lives are the Tenants that there were and are. It is safe for concurrent use.
type lives struct {
	mu     sync.Mutex
	all    []*v1alpha1.Tenant
	living map[types.UID]*v1alpha1.Tenant
	ready  map[string]bool // by the id of the CloudSpace
}

// began is told of a Tenant that was created.
func (l *lives) began(t *v1alpha1.Tenant) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.living == nil {
		l.living = map[types.UID]*v1alpha1.Tenant{}
	}

	l.all = append(l.all, t.DeepCopy())
	l.living[t.GetUID()] = t.DeepCopy()
}

// becameReady is told of a Tenant that was seen Ready.
func (l *lives) becameReady(t *v1alpha1.Tenant) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.ready == nil {
		l.ready = map[string]bool{}
	}

	l.ready[t.Spec.CloudSpaceID] = true
}

// ended is told of a Tenant that is gone.
func (l *lives) ended(t *v1alpha1.Tenant) {
	l.mu.Lock()
	defer l.mu.Unlock()

	delete(l.living, t.GetUID())
}

// now are copies of those that are not gone.
func (l *lives) now() []*v1alpha1.Tenant {
	l.mu.Lock()
	defer l.mu.Unlock()

	var out []*v1alpha1.Tenant
	for _, t := range l.living {
		out = append(out, t.DeepCopy())
	}

	return out
}

// count is how many there ever were.
func (l *lives) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()

	return len(l.all)
}

// cloudSpaces are the ids of all that ever were, with whether they were ever Ready.
func (l *lives) cloudSpaces() map[string]bool {
	l.mu.Lock()
	defer l.mu.Unlock()

	out := map[string]bool{}
	for _, t := range l.all {
		out[t.Spec.CloudSpaceID] = l.ready[t.Spec.CloudSpaceID]
	}

	return out
}

const letters = "abcdefghijklmnopqrstuvwxyz"

// newTenant is a Tenant of a name that r gives, with Flux and an App Advisor if it is
// to be whole.
func newTenant(r *rand.Rand, whole bool) *v1alpha1.Tenant {
	t := rig.NewTenant(rig.Namespace, "soak")

	name := "soak-"
	for range 6 {
		name += string(letters[r.IntN(len(letters))])
	}

	t.Name, t.Spec.TenantName, t.Spec.CloudSpaceID = name, name, newID(r)
	if whole {
		t.Spec.Flux, t.Spec.Advisor = nil, nil
	}

	return t
}

// again is a new Tenant of the same names, and now and then of the same id.
func again(r *rand.Rand, was *v1alpha1.Tenant) *v1alpha1.Tenant {
	t := newTenant(r, was.Spec.Flux == nil)
	t.Name, t.Spec.TenantName = was.Name, was.Spec.TenantName

	if r.IntN(2) == 0 {
		t.Spec.CloudSpaceID = was.Spec.CloudSpaceID
	}

	return t
}

func newID(r *rand.Rand) string {
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", r.Uint32(), r.Uint64()>>16)
}
