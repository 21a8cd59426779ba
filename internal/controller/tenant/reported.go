// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/report"
)

// settleReport writes into the status what kubeopera-api is to be told. Who
// delivers it reads it from there. A Tenant that is refused reports nothing: its
// id is another's.
func (e *external) settleReport(t *v1alpha1.Tenant, s summary) {
	if !e.reports {
		return
	}

	e.restoreReport(t)

	next := reportOf(t, s)
	if e.before.Report == nil && (!e.identified || next.Status == v1alpha1.ReportDeleting) {
		return // Nobody knows of it, or it may be another's id.
	}

	if reconciler.PoliciesOf(t).Delete && !meta.FinalizerExists(t, managed.FinalizerName) {
		return // It may go at any time, and nothing would be told of that.
	}

	if s.refused || sameReport(e.before.Report, next) {
		return
	}

	now := e.clock.Now()
	next.ObservedAt = metav1.NewMicroTime(now)
	t.Status.Report = next

	c := notDone(v1alpha1.TypeReported, v1alpha1.ReasonProgressing, fmt.Sprintf("%q is to be reported", next.Status))
	c.LastTransitionTime = metav1.NewTime(now)
	t.SetConditions(c.WithObservedGeneration(t.GetGeneration()))
}

// restoreReport takes back what was settled of it earlier in the pass.
func (e *external) restoreReport(t *v1alpha1.Tenant) {
	t.Status.Report = e.before.Report
	t.Status.Conditions = slices.DeleteFunc(t.Status.Conditions, func(c xpv2.Condition) bool { return c.Type == v1alpha1.TypeReported })

	for _, was := range e.before.Conditions {
		if was.Type == v1alpha1.TypeReported {
			t.SetConditions(was)
		}
	}
}

// reportOf is what is to be told of a Tenant that stands there.
func reportOf(t *v1alpha1.Tenant, s summary) *v1alpha1.ReportStatus {
	return &v1alpha1.ReportStatus{Status: reportState(s.phase), Message: reconciler.Message(s.message), Generation: t.GetGeneration()}
}

func reportState(p v1alpha1.TenantPhase) v1alpha1.ReportState {
	switch p {
	case v1alpha1.PhaseReady:
		return v1alpha1.ReportActive
	case v1alpha1.PhaseFailed:
		return v1alpha1.ReportFailed
	case v1alpha1.PhaseDeleting:
		return v1alpha1.ReportDeleting
	default:
		return v1alpha1.ReportProvisioning
	}
}

// sameReport says whether the next would tell nothing new. On the way up or down
// another message is only progress.
func sameReport(last, next *v1alpha1.ReportStatus) bool {
	if last == nil || last.Status != next.Status || last.Generation != next.Generation {
		return false
	}

	return last.Message == next.Message || next.Status == v1alpha1.ReportProvisioning || next.Status == v1alpha1.ReportDeleting
}

// keeper keeps the last report of a Tenant that is about to go.
type keeper func(ctx context.Context, r report.Report) error

// keepLast hands the report that the Tenant is gone to who outlives it. Nothing
// is told of one that nothing was ever told of, or whose CloudSpace lives on. A
// place that does not exist holds nobody back.
func (f finalizer) keepLast(ctx context.Context, t *v1alpha1.Tenant) error {
	if f.keep == nil || t.Status.Report == nil || !reconciler.PoliciesOf(t).Delete {
		return nil
	}

	message := "the CloudSpace is deleted"
	if wasLetGo(t) {
		message = "the CloudSpace was given up with its host cluster, which is unreachable"
	}

	err := f.keep(ctx, report.Report{
		TenantUID:    t.GetUID(),
		CloudSpaceID: t.Spec.CloudSpaceID,
		VClusterName: namesOf(t).release,
		Status:       v1alpha1.ReportDeleted,
		Message:      message,
		Generation:   t.GetGeneration(),
		ObservedAt:   f.clock.Now(),
	})

	if errors.Is(err, report.ErrNoOutbox) {
		f.record.Event(t, event.Warning(reasonUnreported, fmt.Errorf("kubeopera-api will not learn that the CloudSpace is deleted: %w", err)))
		return nil
	}

	return err
}
