// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"errors"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maxMessage is the most that the API takes as a message, in bytes.
const maxMessage = 4096

// Summary is where an object stands, in the two forms that people read.
type Summary struct {
	// Ready condition; nil leaves it as it was before the pass.
	Ready   *xpv2.Condition
	Message string
}

// Available says that the object works.
func Available(message string) Summary {
	c := xpv2.Available()
	return Summary{Ready: &c, Message: message}
}

// Creating says what the object waits for.
func Creating(message string) Summary { return saying(xpv2.Creating(), message) }

// Unavailable says what failed.
func Unavailable(message string) Summary { return saying(xpv2.Unavailable(), message) }

// Deleting says what the deletion waits for.
func Deleting(message string) Summary { return saying(xpv2.Deleting(), message) }

func saying(c xpv2.Condition, message string) Summary {
	c = c.WithMessage(message)
	return Summary{Ready: &c, Message: message}
}

// Unknown says that the object could not be looked at, and why. Not to know is no
// change: what was Ready, in those words, stays so, unless the reason is that it
// cannot be.
func Unknown(was xpv2.Condition, ready string, err error) Summary {
	switch {
	case errors.Is(err, ErrConflict), errors.Is(err, ErrNoTenant), errors.Is(err, ErrTenantDeleting):
		return Unavailable(err.Error())
	case was.Status == corev1.ConditionTrue:
		return Summary{Message: ready + " when it was last seen, and cannot be looked at now: " + err.Error()}
	case IsWaiting(err):
		return Creating("waiting for the Tenant: " + err.Error())
	default:
		return Unavailable(err.Error())
	}
}

// Settle writes the Ready condition of mg and returns its message. Was is the
// condition before the pass: the time of the new one moves only when its status does.
func (p Pass) Settle(mg resource.Managed, was xpv2.Condition, s Summary) string {
	if s.Ready == nil {
		mg.SetConditions(was)
		return message(s.Message)
	}

	c := *s.Ready
	c.LastTransitionTime = metav1.NewTime(p.Clock.Now())

	if was.Status == c.Status {
		c.LastTransitionTime = was.LastTransitionTime
	}

	c.Message = message(c.Message)
	mg.SetConditions(c.WithObservedGeneration(mg.GetGeneration()))

	return message(s.Message)
}

// message makes s one that the API takes and stores unchanged.
func message(s string) string {
	const ellipsis = "..."

	s = strings.ToValidUTF8(s, "")
	if len(s) <= maxMessage {
		return s
	}

	return strings.ToValidUTF8(s[:maxMessage-len(ellipsis)], "") + ellipsis
}
