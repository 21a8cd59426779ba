// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// follows names the stage that has to be complete before one can begin.
var follows = map[xpv2.ConditionType]xpv2.ConditionType{
	v1alpha1.TypeReleaseDeployed:     v1alpha1.TypeBoundaryReady,
	v1alpha1.TypeAPIReachable:        v1alpha1.TypeReleaseDeployed,
	v1alpha1.TypeKubeconfigPublished: v1alpha1.TypeAPIReachable,
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

// tellTransitions records what a pass changed: an event for another phase or
// another failure, and the time that each stage took which it completed.
func (e *external) tellTransitions(t *v1alpha1.Tenant) {
	e.tellPhase(t)

	for _, c := range t.Status.Conditions {
		if took, ok := e.took(t, c); ok {
			stageSeconds.WithLabelValues(string(c.Type)).Observe(took.Seconds())
		}
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

	since := t.GetCreationTimestamp().Time

	for _, later := range []xpv2.Condition{was, t.GetCondition(earlier)} {
		if at := later.LastTransitionTime.Time; at.After(since) && !at.After(c.LastTransitionTime.Time) {
			since = at
		}
	}

	return c.LastTransitionTime.Sub(since), true
}
