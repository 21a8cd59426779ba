// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisoragent

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/advisor"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
)

// Observe finds out what is there, writes it into the status and says what
// follows. It changes nothing inside the vCluster.
func (e *external) Observe(ctx context.Context, a *v1alpha1.AdvisorAgent) (managed.ExternalObservation, error) {
	if meta.WasDeleted(a) {
		return e.observeDeletion(ctx, a)
	}

	f, err := e.gather(ctx, a)
	if inside.IsWaiting(err) {
		e.reportUnknown(a, err)
		// There is nothing to do but to wait.
		return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
	}

	if err != nil {
		e.reportUnknown(a, err)
		return managed.ExternalObservation{}, err
	}

	e.seen = f
	e.report(a, nil)

	return managed.ExternalObservation{
		ResourceExists:   f.exists(inside.OwnerOf(a, e.Way.Tenant)),
		ResourceUpToDate: f.settled(),
	}, nil
}

// report settles the status on what was seen. As long as it is not Ready, each
// change of the Deployment has it looked at again.
func (e *external) report(a *v1alpha1.AdvisorAgent, failed error) {
	f := e.seen

	a.Status.Image, a.Status.ReadyReplicas, a.Status.Endpoint = imageOf(f), 0, ""

	if f.deployment != nil {
		a.Status.ReadyReplicas = f.deployment.Status.ReadyReplicas
	}

	if _, missing := f.missing(); !missing {
		a.Status.Endpoint = advisor.Endpoint
	}

	if f.available() {
		e.Way.API.Unfollow(advisor.Namespace)
	} else {
		key := client.ObjectKeyFromObject(a)
		e.Way.API.Follow(advisor.Namespace, func() { e.Waker.Wake(key) })
	}

	e.settle(a, summarize(f, failed))
}

func (e *external) reportUnknown(a *v1alpha1.AdvisorAgent, err error) {
	e.settle(a, summarizeUnknown(e.before.GetCondition(xpv2.TypeReady), err))
}

func (e *external) settle(a *v1alpha1.AdvisorAgent, s inside.Summary) {
	if s.Ready != nil {
		a.Status.SetObservedGeneration(a.GetGeneration())
	}

	a.Status.Message = e.Settle(a, e.before.GetCondition(xpv2.TypeReady), s)
}
