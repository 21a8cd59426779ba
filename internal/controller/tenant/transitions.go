// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
)

// follows names the stage that has to be complete before one can begin.
var follows = map[xpv2.ConditionType]xpv2.ConditionType{
	v1alpha1.TypeReleaseDeployed:     v1alpha1.TypeBoundaryReady,
	v1alpha1.TypeAPIReachable:        v1alpha1.TypeReleaseDeployed,
	v1alpha1.TypeKubeconfigPublished: v1alpha1.TypeAPIReachable,
	v1alpha1.TypeDNSReady:            v1alpha1.TypeKubeconfigPublished,
	v1alpha1.TypeFluxReady:           v1alpha1.TypeKubeconfigPublished,
	v1alpha1.TypeQuotaApplied:        v1alpha1.TypeKubeconfigPublished,
	v1alpha1.TypeAdvisorReady:        v1alpha1.TypeKubeconfigPublished,
}

var stageSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
	Name: "kubeopera_tenant_stage_seconds",
	Help: "Seconds from when a stage of a Tenant could begin, or was lost, until it was complete. " +
		"The stage is the name of its condition; Ready is the whole, from creation.",
	Buckets: []float64{.5, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60, 120, 300, 900},
}, []string{"stage"})

// Collectors are the metrics of the Tenant controller.
func Collectors() []prometheus.Collector { return []prometheus.Collector{stageSeconds} }

// stopwatch remembers when stages of Tenants were complete, finer than the whole
// seconds of their conditions. What it does not know, those tell.
type stopwatch struct {
	mu sync.Mutex
	at map[types.UID]map[xpv2.ConditionType]time.Time
}

func newStopwatch() *stopwatch {
	return &stopwatch{at: map[types.UID]map[xpv2.ConditionType]time.Time{}}
}

// created stands for the stage that all others follow.
const created xpv2.ConditionType = ""

// mark that the stage is complete.
func (s *stopwatch) mark(t *v1alpha1.Tenant, stage xpv2.ConditionType, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.at[t.GetUID()] == nil {
		s.at[t.GetUID()] = map[xpv2.ConditionType]time.Time{}
	}

	s.at[t.GetUID()][stage] = now
}

// completed is when the stage was complete, if the condition says that it is.
func (s *stopwatch) completed(t *v1alpha1.Tenant, stage xpv2.ConditionType) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()

	coarse := t.GetCondition(stage).LastTransitionTime.Time
	if fine := s.at[t.GetUID()][stage]; fine.Truncate(time.Second).Equal(coarse.Truncate(time.Second)) {
		return fine
	}

	return coarse
}

// began is when the Tenant was seen first, right after its creation. It is false for
// one that is older than this process, or was Ready before.
func (s *stopwatch) began(t *v1alpha1.Tenant) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	at, ok := s.at[t.GetUID()][created]

	return at, ok
}

// forget the Tenant: it is Ready, or being deleted.
func (s *stopwatch) forget(t *v1alpha1.Tenant) {
	s.mu.Lock()
	defer s.mu.Unlock()

	delete(s.at, t.GetUID())
}

// tellTransitions records what a pass changed: an event for another phase or
// another failure, and the time that each stage took which it completed.
func (e *external) tellTransitions(t *v1alpha1.Tenant) {
	e.tellPhase(t)
	e.tellExpiry(t)

	for _, c := range t.Status.Conditions {
		if took, ok := e.took(t, c); ok {
			stageSeconds.WithLabelValues(string(c.Type)).Observe(took.Seconds())
			e.stages.mark(t, c.Type, e.completed[c.Type])
		}
	}

	if p := t.Status.Phase; p == v1alpha1.PhaseReady || p == v1alpha1.PhaseDeleting {
		e.stages.forget(t)
	}
}

// noteCompletion remembers when a pass saw a stage complete first: it may settle the
// status twice.
func (e *external) noteCompletion(c xpv2.Condition, now time.Time) {
	if _, ok := e.completed[c.Type]; ok == (c.Status == corev1.ConditionTrue) {
		return
	}

	if e.completed == nil {
		e.completed = map[xpv2.ConditionType]time.Time{}
	}

	if c.Status == corev1.ConditionTrue {
		e.completed[c.Type] = now
	} else {
		delete(e.completed, c.Type)
	}
}

func (e *external) tellPhase(t *v1alpha1.Tenant) {
	was, is := e.before, t.Status

	failed := is.Phase == v1alpha1.PhaseFailed
	if was.Phase == is.Phase && (!failed || was.Message == is.Message) {
		return
	}

	if failed {
		e.record.Event(t, event.Warning(reasonFailed, errors.New(is.Message)))
		return
	}

	e.record.Event(t, event.Normal(event.Reason(is.Phase), is.Message))
}

// took is how long the stage of that condition took, if this pass completed it.
func (e *external) took(t *v1alpha1.Tenant, c xpv2.Condition) (time.Duration, bool) {
	earlier, isStage := follows[c.Type]
	if !isStage && c.Type != v1alpha1.TypeBoundaryReady && c.Type != xpv2.TypeReady {
		return 0, false
	}

	was := e.before.GetCondition(c.Type)
	if c.Status != corev1.ConditionTrue || was.Status == corev1.ConditionTrue || c.Reason == v1alpha1.ReasonSkipped {
		return 0, false
	}

	// What is only looked at took someone else's time.
	if reconciler.PoliciesOf(t).LooksOnly() {
		return 0, false
	}

	end := e.completed[c.Type]
	candidates := []time.Time{e.stages.completed(t, earlier)}

	since, ok := e.stages.began(t)
	if !ok {
		since = t.GetCreationTimestamp().Time
		candidates = append(candidates, was.LastTransitionTime.Time)
	}

	for _, at := range candidates {
		if at.After(since) && !at.After(end) {
			since = at
		}
	}

	return end.Sub(since), true
}
