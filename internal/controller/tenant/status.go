// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
)

func done(t xpv2.ConditionType) xpv2.Condition {
	return xpv2.Condition{Type: t, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonDone}
}

func pendingChange(t xpv2.ConditionType, message string) xpv2.Condition {
	return xpv2.Condition{Type: t, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonPendingChange, Message: message}
}

func skipped(t xpv2.ConditionType, why string) xpv2.Condition {
	return xpv2.Condition{Type: t, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonSkipped, Message: why}
}

func notDone(t xpv2.ConditionType, r xpv2.ConditionReason, message string) xpv2.Condition {
	return xpv2.Condition{Type: t, Status: corev1.ConditionFalse, Reason: r, Message: message}
}

// settle writes what a pass found into the Tenant's status. Times move only when
// something else changed since the last pass.
func (e *external) settle(t *v1alpha1.Tenant, s summary, stages ...xpv2.Condition) {
	now := metav1.NewTime(e.clock.Now())

	for _, c := range append(stages, s.ready) {
		e.noteCompletion(c, now.Time)

		at := now
		if first, ok := e.completed[c.Type]; ok {
			at = metav1.NewTime(first)
		}

		reconciler.SetCondition(t, e.before.GetCondition(c.Type), c, at)
	}

	t.Status.SetObservedGeneration(t.GetGeneration())
	t.Status.Phase = s.phase
	t.Status.Message = reconciler.Message(s.message)
	t.Status.VClusterName = e.names.release
	t.Status.Namespace = e.names.namespace

	e.settleReport(t, s)
	e.settled, e.settledVersion = t, t.GetResourceVersion()

	t.Status.LastSyncedAt = e.before.LastSyncedAt
	if !sameStatus(e.before, t.Status) {
		t.Status.LastSyncedAt = &now
	}
}

// sameStatus compares two statuses but for what others keep of them, the managed
// reconciler and the reports, and all times.
func sameStatus(a, b v1alpha1.TenantStatus) bool {
	return equality.Semantic.DeepEqual(timeless(a), timeless(b))
}

func timeless(s v1alpha1.TenantStatus) v1alpha1.TenantStatus {
	out := *s.DeepCopy()
	out.LastSyncedAt = nil
	out.ObservedStatus = xpv2.ObservedStatus{}
	out.Report = nil
	out.Conditions = nil

	for _, c := range s.Conditions {
		if c.Type == xpv2.TypeSynced || c.Type == v1alpha1.TypeReported {
			continue
		}

		c.LastTransitionTime = metav1.Time{}
		c.ObservedGeneration = 0
		out.Conditions = append(out.Conditions, c)
	}

	return out
}
