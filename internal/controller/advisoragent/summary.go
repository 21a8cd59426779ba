// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisoragent

import (
	"errors"
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/advisor"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
)

// Messages of an AdvisorAgent that waits for nothing.
const (
	messageNothing = "nothing has been made yet"
	messageReady   = "App Advisor ready"
	messageNone    = "App Advisor scaled to 0 replicas"
)

// Summarize says what runs. As long as it is not available, each change of the
// Deployment has it looked at again.
func (h handler) Summarize(p inside.Pass, a *v1alpha1.AdvisorAgent, f *facts, failed error) inside.Summary {
	a.Status.Image, a.Status.ReadyReplicas, a.Status.Endpoint = imageOf(f), 0, ""

	if f.deployment != nil {
		a.Status.ReadyReplicas = f.deployment.Status.ReadyReplicas
	}

	if _, missing := f.missing(); !missing {
		a.Status.Endpoint = advisor.Endpoint
	}

	if f.available() {
		p.API.Unfollow(advisor.Namespace)
	} else {
		key := client.ObjectKeyFromObject(a)
		p.API.Follow(advisor.Namespace, func() { p.Waker.Wake(key) })
	}

	return summarize(f, failed)
}

// summarize says where it stands by what was found.
func summarize(f *facts, failed error) inside.Summary {
	switch {
	case f.available():
		return inside.Available(f.readyMessage(), failed)
	case failed != nil:
		return inside.Unavailable(failed.Error())
	case f.goingAway():
		return inside.Creating(fmt.Sprintf("someone deleted %s; it is made anew once it is gone", f.objects[0].Want))
	case f.objects[0].Live == nil:
		return inside.Creating(messageNothing)
	}

	if m, ok := f.missing(); ok {
		return inside.Creating(fmt.Sprintf("%s is not there yet", m.Want))
	}

	return inside.Creating(f.waitingFor())
}

// Unknown says why it could not be looked at. Without an image there is nothing to
// look for.
func (h handler) Unknown(was xpv2.Condition, err error) inside.Summary {
	if errors.Is(err, errNoImage) {
		return inside.Unavailable(err.Error())
	}

	return inside.Unknown(was, messageReady, err)
}

func (f *facts) readyMessage() string {
	if ptr.Deref(f.deployment.Spec.Replicas, 1) == 0 {
		return messageNone
	}

	return messageReady
}

// waitingFor says why the Deployment is not available.
func (f *facts) waitingFor() string {
	d := f.deployment

	why := f.trouble
	if why == "" {
		why = fmt.Sprintf("%d of %d pods are ready, which must answer GET %s on port %d",
			min(d.Status.ReadyReplicas, d.Status.UpdatedReplicas), ptr.Deref(d.Spec.Replicas, 1), advisor.HealthPath, advisor.Port)
	}

	return fmt.Sprintf("Deployment %q with image %q is not available: %s", d.GetName(), imageOf(f), why)
}

// imageOf is the image that the Deployment runs; empty when there is none.
func imageOf(f *facts) string {
	if f.deployment == nil {
		return ""
	}

	for _, c := range f.deployment.Spec.Template.Spec.Containers {
		if c.Name == advisor.Container {
			return c.Image
		}
	}

	return ""
}
