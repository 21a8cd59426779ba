// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// A failed attempt is repeated after firstRetry, then after twice as long each
// time, up to maxRetry, without end.
const (
	firstRetry = 2 * time.Second
	maxRetry   = time.Minute
)

// failure is the last attempt of a Tenant, which failed.
type failure struct {
	stage      xpv2.ConditionType
	err        error
	generation int64
	pause      time.Duration
	until      time.Time
}

// failures remember the Tenants whose last attempt failed. What a failed attempt
// changes on the host wakes its Tenant at once, so that without this it would be
// repeated without a pause. They are lost with the process, which then tries
// once more at once.
type failures struct {
	mu sync.Mutex
	by map[types.UID]failure
}

func newFailures() *failures { return &failures{by: map[types.UID]failure{}} }

// add a failed attempt at the time now.
func (f *failures) add(t *v1alpha1.Tenant, stage xpv2.ConditionType, err error, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()

	pause := firstRetry
	if last, ok := f.by[t.GetUID()]; ok && last.generation == t.GetGeneration() {
		pause = min(2*last.pause, maxRetry)
	}

	f.by[t.GetUID()] = failure{stage: stage, err: err, generation: t.GetGeneration(), pause: pause, until: now.Add(pause)}
}

// forget the Tenant: an attempt succeeded, or it is being deleted.
func (f *failures) forget(t *v1alpha1.Tenant) {
	f.mu.Lock()
	defer f.mu.Unlock()

	delete(f.by, t.GetUID())
}

// pausing returns the failure that the Tenant is not to be tried again for yet.
// A changed spec and a person's request are tried at once.
func (f *failures) pausing(t *v1alpha1.Tenant, now time.Time) (failure, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()

	last, ok := f.by[t.GetUID()]
	if !ok || last.generation != t.GetGeneration() || !now.Before(last.until) || retryRequested(t) {
		return failure{}, false
	}

	return last, true
}

func retryRequested(t *v1alpha1.Tenant) bool {
	token, ok := meta.GetReconcileRequest(t)

	return ok && token != t.GetLastHandledReconcileAt()
}
