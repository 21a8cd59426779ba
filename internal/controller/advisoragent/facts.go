// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisoragent

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/advisor"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/workload"
)

// facts are what one pass found out about an App Advisor that is to run.
type facts struct {
	objects []inside.Found
	// deployment is nil when there is none that counts.
	deployment *appsv1.Deployment
	// trouble says in words why the Deployment is not available, as far as the
	// vCluster tells.
	trouble string
}

// gather finds out all that there is to know. An error means that something is
// unknown or, with [inside.ErrConflict], that the AdvisorAgent must keep its hands off.
func (e *external) gather(ctx context.Context, a *v1alpha1.AdvisorAgent) (*facts, error) {
	s, err := settingsOf(a, e.defaultImage)
	if err != nil {
		return nil, err
	}

	if e.NoWay != nil {
		return nil, e.NoWay
	}

	ctx, cancel := e.Bounded(ctx)
	defer cancel()

	owner := inside.OwnerOf(a, e.Way.Tenant)

	want, err := desire(owner, s)
	if err != nil {
		return nil, err
	}

	f := &facts{}
	if f.objects, err = inside.Look(ctx, e.Way.API.Live, want); err != nil {
		return nil, err
	}

	if err := owner.Check(ctx, e.Kube, kind.List(), f.objects); err != nil {
		return nil, err
	}

	return f, e.gatherDeployment(ctx, f)
}

// gatherDeployment finds out how the pods are.
func (e *external) gatherDeployment(ctx context.Context, f *facts) error {
	found := f.objects[len(f.objects)-1]
	if found.Live == nil || found.Going() {
		return nil
	}

	f.deployment = &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.Live.Object, f.deployment); err != nil {
		return fmt.Errorf("cannot read %s: %w", found.Want, err)
	}

	if workload.DeploymentAvailable(f.deployment) {
		return nil
	}

	var err error
	if f.trouble, err = workload.Trouble(ctx, e.Way.API.Live, found.Want.GetKind(), advisor.Name, advisor.Namespace,
		client.MatchingLabels(advisor.Labels())); err != nil {
		return inside.Explained(fmt.Errorf("inside the vCluster: %w", err))
	}

	return nil
}

// exists says whether anything of it is there.
func (f *facts) exists(o inside.Owner) bool {
	return slices.ContainsFunc(f.objects, func(f inside.Found) bool { return f.Live != nil && o.Owns(f.Live) })
}

// settled says that there is nothing to do but to wait: all is as it should be,
// or someone deleted the namespace, which is made anew once it is gone.
func (f *facts) settled() bool {
	return f.goingAway() || !slices.ContainsFunc(f.objects, func(f inside.Found) bool { return !f.Same && !f.Going() })
}

func (f *facts) goingAway() bool { return f.objects[0].Going() }

// missing is the first object that is not there, or is about to go.
func (f *facts) missing() (inside.Found, bool) {
	i := slices.IndexFunc(f.objects, func(f inside.Found) bool { return f.Live == nil || f.Going() })
	if i < 0 {
		return inside.Found{}, false
	}

	return f.objects[i], true
}

// available says that the App Advisor answers.
func (f *facts) available() bool {
	_, missing := f.missing()

	return !missing && workload.DeploymentAvailable(f.deployment)
}
