// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// A failed attempt is repeated after firstRetry, then after twice as long each
// time, up to maxRetry, without end.
const (
	firstRetry = 2 * time.Second
	maxRetry   = time.Minute
)

// part of a Tenant that is attempted, and paused, by itself.
type part string

const (
	partHost    part = "host"    // the boundary and the vCluster's release
	partRenewal part = "renewal" // the renewal of its certificates
	partFlux    part = "flux"    // Flux inside the vCluster
	partAdvisor part = "advisor" // the AdvisorAgent beside the Tenant
	partQuota   part = "quota"   // the TenantQuota beside the Tenant
)

// partBoundary is a part of partHost that is put right by itself.
const partBoundary part = "boundary"

var parts = []part{partHost, partRenewal, partFlux, partAdvisor, partQuota}

type attempt struct {
	tenant types.UID
	part   part
}

// failure is the last attempt of a part, which failed.
type failure struct {
	stage      xpv2.ConditionType
	err        error
	generation int64
	pause      time.Duration
	until      time.Time
}

// failures remember what failed in the last attempt, and what was repaired last. What a
// failed attempt changes on the host wakes its Tenant at once, so that without this it
// would be repeated without a pause; so would a repair that others undo. They are lost
// with the process, which then tries once more at once.
type failures struct {
	mu sync.Mutex
	by map[attempt]failure
	// repairs that were made last.
	repairs map[attempt]repair
}

func newFailures() *failures {
	return &failures{by: map[attempt]failure{}, repairs: map[attempt]repair{}}
}

// add a failed attempt at the time now.
func (f *failures) add(t *v1alpha1.Tenant, p part, stage xpv2.ConditionType, err error, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()

	key := attempt{tenant: t.GetUID(), part: p}

	pause := firstRetry
	if last, ok := f.by[key]; ok && last.generation == t.GetGeneration() {
		pause = min(2*last.pause, maxRetry)
	}

	f.by[key] = failure{stage: stage, err: err, generation: t.GetGeneration(), pause: pause, until: now.Add(pause)}
}

// forget the part: an attempt succeeded, or there is nothing to attempt.
func (f *failures) forget(t *v1alpha1.Tenant, ps ...part) {
	f.mu.Lock()
	defer f.mu.Unlock()

	for _, p := range ps {
		delete(f.by, attempt{tenant: t.GetUID(), part: p})
	}
}

// pausing returns the failure that the part is not to be tried again for yet. A
// changed spec and a person's request are tried at once.
func (f *failures) pausing(t *v1alpha1.Tenant, p part, now time.Time) (failure, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()

	last, ok := f.by[attempt{tenant: t.GetUID(), part: p}]
	if !ok || last.generation != t.GetGeneration() || !now.Before(last.until) {
		return failure{}, false
	}

	return last, true
}

// retryRequested says that a person asked for an attempt now: by the annotation,
// or by setting the phase back.
func retryRequested(t *v1alpha1.Tenant) bool {
	token, ok := meta.GetReconcileRequest(t)

	return (ok && token != t.GetLastHandledReconcileAt()) || setToPending(t)
}

// setToPending says that a person set the phase to Pending: the provider itself
// writes it with a message of its own.
func setToPending(t *v1alpha1.Tenant) bool {
	return t.Status.Phase == v1alpha1.PhasePending && t.Status.Message != "" && t.Status.Message != messagePending
}

// onRetry lets pass the change of a Tenant by which a person sets its phase to Pending.
func onRetry() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, isTenant := e.ObjectOld.(*v1alpha1.Tenant)
			after, ok := e.ObjectNew.(*v1alpha1.Tenant)

			return ok && isTenant && before.Status.Phase != v1alpha1.PhasePending && setToPending(after)
		},
	}
}
