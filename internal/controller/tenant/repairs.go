// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// forgetRepairAfter is after which time without it a repair is the first again.
const forgetRepairAfter = 10 * time.Minute

// repair is the last time that a part was put right.
type repair struct {
	// what was wrong, and what it was to become.
	what       string
	generation int64
	pause      time.Duration
	until      time.Time
}

// repaired remembers that a part was put right at the time now. It is not to be put right
// in the same way before first has passed, and then twice as long each time, up to
// maxRetry: somebody undoes it, who may mean it.
func (f *failures) repaired(t *v1alpha1.Tenant, p part, what string, first time.Duration, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()

	key, pause := attempt{tenant: t.GetUID(), part: p}, first
	if last, ok := f.repairs[key]; ok && last.same(t, what) && now.Sub(last.until) < forgetRepairAfter {
		pause = min(2*last.pause, maxRetry)
	}

	f.repairs[key] = repair{what: what, generation: t.GetGeneration(), pause: pause, until: now.Add(pause)}
}

// untilRepair is how long the part is not to be put right in that way yet.
func (f *failures) untilRepair(t *v1alpha1.Tenant, p part, what string, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()

	last, ok := f.repairs[attempt{tenant: t.GetUID(), part: p}]
	if !ok || !last.same(t, what) {
		return 0
	}

	return max(0, last.until.Sub(now))
}

func (r repair) same(t *v1alpha1.Tenant, what string) bool {
	return r.what == what && r.generation == t.GetGeneration()
}

// forgetTenant forgets all of a Tenant that is going.
func (f *failures) forgetTenant(t *v1alpha1.Tenant) {
	f.forget(t, parts...)

	f.mu.Lock()
	defer f.mu.Unlock()

	for key := range f.repairs {
		if key.tenant == t.GetUID() {
			delete(f.repairs, key)
		}
	}
}

// repairOnce puts a part right, unless that was undone so lately that it is not its time.
// A person's request is its time always.
func (e *external) repairOnce(t *v1alpha1.Tenant, p part, what string, first time.Duration, fn func() error) error {
	if wait := e.failures.untilRepair(t, p, what, e.clock.Now()); wait > 0 && !e.retry {
		e.lookAgain(wait)
		return nil
	}

	if err := fn(); err != nil {
		return err
	}

	e.failures.repaired(t, p, what, first, e.clock.Now())

	return nil
}

// repairBoundary writes the boundary. What was installed had one.
func (e *external) repairBoundary(t *v1alpha1.Tenant, f *facts, write func() error) error {
	if !f.wasInstalled() {
		return write()
	}

	want, err := json.Marshal(struct {
		Labels   map[string]string
		Policies map[string]networkingv1.NetworkPolicySpec
		Wall     corev1.ResourceQuotaSpec
	}{f.isolation.labels, f.isolation.policies, f.wall})
	if err != nil {
		return fmt.Errorf("cannot write down what the boundary should be: %w", err)
	}

	return e.repairOnce(t, partBoundary, f.notIsolated+string(want), firstRetry, write)
}
