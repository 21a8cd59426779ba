// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// Messages of a Tenant that waits for nothing.
const (
	messagePending = "nothing has been made yet"
	messageReady   = "vCluster ready"
)

// summary is where a Tenant stands, in the three forms that people read.
type summary struct {
	phase   v1alpha1.TenantPhase
	ready   xpv2.Condition
	message string
}

// summarize is the one place where phase, message and the Ready condition come
// from. The stages are in their order; the first that is not complete decides.
func summarize(stages []xpv2.Condition) summary {
	for i, s := range stages {
		if s.Status == corev1.ConditionTrue {
			continue
		}

		switch s.Reason {
		case v1alpha1.ReasonFailed, v1alpha1.ReasonConflict:
			return summary{phase: v1alpha1.PhaseFailed, ready: xpv2.Unavailable().WithMessage(s.Message), message: s.Message}
		case v1alpha1.ReasonWaiting:
			if i == 0 {
				return summary{phase: v1alpha1.PhasePending, ready: xpv2.Creating().WithMessage(messagePending), message: messagePending}
			}
		}

		return summary{phase: v1alpha1.PhaseProvisioning, ready: xpv2.Creating().WithMessage(s.Message), message: s.Message}
	}

	for _, s := range stages {
		if s.Reason == v1alpha1.ReasonPendingChange {
			return summary{phase: v1alpha1.PhaseReady, ready: xpv2.Available(), message: messageReady + "; a change waits: " + s.Message}
		}
	}

	return summary{phase: v1alpha1.PhaseReady, ready: xpv2.Available(), message: messageReady}
}

// summarizeUnknown says that a Tenant was Ready and cannot be looked at now.
func summarizeUnknown(why string) summary {
	return summary{
		phase:   v1alpha1.PhaseReady,
		ready:   xpv2.Available(),
		message: messageReady + " when it was last seen, and cannot be looked at now: " + why,
	}
}

// summarizeDeletion says where a Tenant stands that is being deleted.
func summarizeDeletion(message string) summary {
	return summary{phase: v1alpha1.PhaseDeleting, ready: xpv2.Deleting().WithMessage(message), message: message}
}
