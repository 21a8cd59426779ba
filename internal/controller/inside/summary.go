// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
)

// Summary is where an object stands, in the two forms that people read.
type Summary struct {
	// Ready condition; nil leaves it as it was before the pass.
	Ready   *xpv2.Condition
	Message string
}

// Available says that the object works. It does so, too, when an attempt to change
// something failed; nil is none.
func Available(message string, failed error) Summary {
	if failed != nil {
		message += "; a change failed: " + failed.Error()
	}

	c := xpv2.Available()

	return Summary{Ready: &c, Message: message}
}

// Creating says what the object waits for.
func Creating(message string) Summary { return saying(xpv2.Creating(), message) }

// Unavailable says what failed.
func Unavailable(message string) Summary { return saying(xpv2.Unavailable(), message) }

// but adds to what is said.
func (s Summary) but(more string) Summary {
	s.Message += "; " + more

	if s.Ready != nil && s.Ready.Message != "" {
		c := s.Ready.WithMessage(s.Message)
		s.Ready = &c
	}

	return s
}

// deleting says what the deletion waits for. Ready has no message, as the runtime
// sets it in each pass: two of them would take turns, and wake all who watch.
func deleting(message string) Summary {
	c := xpv2.Deleting()
	return Summary{Ready: &c, Message: message}
}

func saying(c xpv2.Condition, message string) Summary {
	c = c.WithMessage(message)
	return Summary{Ready: &c, Message: message}
}

// Unknown says that the object could not be looked at, and why. Not to know is no
// change: what was Ready, in those words, stays so, unless the reason is that it
// cannot be.
func Unknown(was xpv2.Condition, ready string, err error) Summary {
	switch {
	case errors.Is(err, ErrConflict):
		c := xpv2.Unavailable()
		c.Reason = v1alpha1.ReasonConflict

		return saying(c, err.Error())
	case errors.Is(err, errNoTenant), errors.Is(err, errTenantDeleting):
		return Unavailable(err.Error())
	case was.Status == corev1.ConditionTrue:
		return Summary{Message: ready + " when it was last seen, and cannot be looked at now: " + err.Error()}
	case isWaiting(err):
		return Creating("waiting for the Tenant: " + err.Error())
	default:
		return Unavailable(err.Error())
	}
}

// settle writes the summary into the status of mg. Was is the condition Ready
// before the pass. A condition that is kept keeps the generation that it is about,
// and so does the status.
func (p Pass) settle(mg resource.Managed, was xpv2.Condition, s Summary) {
	status, message := statusOf(mg)
	*message = reconciler.Message(s.Message)

	if s.Ready == nil {
		mg.SetConditions(was)
		return
	}

	reconciler.SetCondition(mg, was, *s.Ready, metav1.NewTime(p.Clock.Now()))
	status.SetObservedGeneration(mg.GetGeneration())
}

// statusOf points into the status of an AdvisorAgent or a TenantQuota.
func statusOf(mg resource.Managed) (status *xpv2.ManagedResourceStatus, message *string) {
	switch o := mg.(type) {
	case *v1alpha1.AdvisorAgent:
		return &o.Status.ManagedResourceStatus, &o.Status.Message
	case *v1alpha1.TenantQuota:
		return &o.Status.ManagedResourceStatus, &o.Status.Message
	default:
		return &xpv2.ManagedResourceStatus{}, new(string)
	}
}
