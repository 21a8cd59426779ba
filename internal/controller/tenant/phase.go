// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// messagePending is the message of a Tenant that nothing was done for yet.
const messagePending = "nothing has been made yet"

// summary is where a Tenant stands, in the three forms that people read.
type summary struct {
	phase   v1alpha1.TenantPhase
	ready   xpv2.Condition
	message string
	// refused says that the Tenant's names are another's.
	refused bool
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
			return summary{
				phase:   v1alpha1.PhaseFailed,
				ready:   xpv2.Unavailable().WithMessage(s.Message),
				message: s.Message,
				refused: s.Type == v1alpha1.TypeBoundaryReady && s.Reason == v1alpha1.ReasonConflict,
			}
		case v1alpha1.ReasonWaiting:
			if i == 0 {
				return summary{phase: v1alpha1.PhasePending, ready: xpv2.Creating().WithMessage(messagePending), message: messagePending}
			}
		}

		return summary{phase: phaseOf(s.Type), ready: xpv2.Creating().WithMessage(s.Message), message: s.Message}
	}

	message := readyMessage(stages)
	if slices.ContainsFunc(stages, func(s xpv2.Condition) bool { return s.Reason == v1alpha1.ReasonObserved }) {
		message += ", only observed"
	}

	for _, s := range stages {
		if s.Reason == v1alpha1.ReasonPendingChange {
			return summary{phase: v1alpha1.PhaseReady, ready: xpv2.Available(), message: message + "; a change waits: " + s.Message}
		}
	}

	return summary{phase: v1alpha1.PhaseReady, ready: xpv2.Available(), message: message}
}

// phaseOf is the phase in which the stage is being worked on.
func phaseOf(stage xpv2.ConditionType) v1alpha1.TenantPhase {
	switch stage {
	case v1alpha1.TypeDNSReady, v1alpha1.TypeFluxReady, v1alpha1.TypeQuotaApplied, v1alpha1.TypeAdvisorReady:
		return v1alpha1.PhaseInstallingFlux
	default:
		return v1alpha1.PhaseProvisioning
	}
}

// readyMessage names what runs, such as "vCluster, Flux and App Advisor ready".
func readyMessage(stages []xpv2.Condition) string {
	names := []string{"vCluster"}

	for _, s := range stages {
		if s.Reason == v1alpha1.ReasonSkipped || s.Reason == v1alpha1.ReasonUnmanaged {
			continue
		}

		switch s.Type {
		case v1alpha1.TypeFluxReady:
			names = append(names, "Flux")
		case v1alpha1.TypeAdvisorReady:
			names = append(names, "App Advisor")
		}
	}

	last := len(names) - 1
	if last == 0 {
		return names[0] + " ready"
	}

	return strings.Join(names[:last], ", ") + " and " + names[last] + " ready"
}

// summarizeUnknown says that a Tenant was Ready, with these stages, and cannot be
// looked at now.
func summarizeUnknown(stages []xpv2.Condition, why string) summary {
	return summary{
		phase:   v1alpha1.PhaseReady,
		ready:   xpv2.Available(),
		message: readyMessage(stages) + " when it was last seen, and cannot be looked at now: " + why,
	}
}

// summarizeDeletion says where a Tenant stands that is being deleted. Ready has no
// message, as the runtime sets it in each pass: two of them would take turns, and
// wake all who watch.
func summarizeDeletion(message string) summary {
	return summary{phase: v1alpha1.PhaseDeleting, ready: xpv2.Deleting(), message: message}
}
