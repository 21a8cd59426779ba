// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MaxMessageLength is the MaxLength of messages in the API. It is taken in bytes
// here, of which a message never has fewer than characters.
const MaxMessageLength = 4096

// Message makes s one that the API takes and stores unchanged.
func Message(s string) string {
	const ellipsis = "..."

	s = strings.ToValidUTF8(s, "")
	if len(s) <= MaxMessageLength {
		return s
	}

	return strings.ToValidUTF8(s[:MaxMessageLength-len(ellipsis)], "") + ellipsis
}

// SetCondition sets c as what is found now of mg as it is, and returns it as it was
// set. Was is the condition of that type before: the time moves only with the status.
func SetCondition(mg resource.Managed, was, c xpv2.Condition, now metav1.Time) xpv2.Condition {
	c.LastTransitionTime = now
	if was.Status == c.Status {
		c.LastTransitionTime = was.LastTransitionTime
	}

	c.Message = Message(c.Message)
	c = c.WithObservedGeneration(mg.GetGeneration())
	mg.SetConditions(c)

	return c
}
