// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisoragent

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

// Gather finds out all that there is to know of the App Advisor.
func (h handler) Gather(ctx context.Context, p inside.Pass, a *v1alpha1.AdvisorAgent) (*facts, error) {
	s, err := settingsOf(a, h.defaultImage)
	if err != nil {
		return nil, err
	}

	owner, err := p.Owner(a)
	if err != nil {
		return nil, err
	}

	want, err := desire(owner, s)
	if err != nil {
		return nil, err
	}

	f := &facts{}
	if f.objects, err = inside.Look(ctx, p.Inside, want); err != nil {
		return nil, err
	}

	if err := owner.Check(ctx, p.Live, kind.List(), f.objects); err != nil {
		return nil, err
	}

	return f, f.gatherDeployment(ctx, p.Inside)
}

// Remains looks for everything that the AdvisorAgent may have made and that is
// still its own. The namespace is the last. Nobody waits for its Deployment any more.
func (h handler) Remains(ctx context.Context, p inside.Pass, a *v1alpha1.AdvisorAgent) ([]*unstructured.Unstructured, error) {
	owner, err := p.Owner(a)
	if err != nil {
		return nil, err
	}

	p.API.Unfollow(advisor.Namespace)

	// Who takes over has the same objects, and what people put beside them stays.
	if ok, err := owner.HasSuccessor(ctx, p.Live, kind.List()); ok || err != nil {
		return nil, err
	}

	want, err := desire(owner, a.Spec.AdvisorSettings)
	if err != nil {
		return nil, err
	}

	found, err := inside.Find(ctx, p.Inside, want)
	if err != nil {
		return nil, err
	}

	return owner.Remains(found), nil
}

// MayBeLeft names what can outlive the namespace, and that.
func (h handler) MayBeLeft(*v1alpha1.AdvisorAgent) []string {
	return []string{"ClusterRoleBinding " + advisor.Name, "ClusterRole " + advisor.Name, "Namespace " + advisor.Namespace}
}

// Write makes or repairs the App Advisor.
func (h handler) Write(ctx context.Context, p inside.Pass, a *v1alpha1.AdvisorAgent, seen *facts) error {
	return p.Write(ctx, a, seen.objects)
}

// gatherDeployment finds out how the pods are.
func (f *facts) gatherDeployment(ctx context.Context, c client.Reader) error {
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
	if f.trouble, err = workload.Trouble(ctx, c, found.Want.GetKind(), advisor.Name, advisor.Namespace,
		client.MatchingLabels(advisor.Labels())); err != nil {
		return inside.Explained(fmt.Errorf("inside the vCluster: %w", err))
	}

	return nil
}

// Exists says whether anything of it is there.
func (f *facts) Exists(o inside.Owner) bool {
	return slices.ContainsFunc(f.objects, func(f inside.Found) bool { return f.Live != nil && o.Owns(f.Live) })
}

// Complete says that all of it is there, right or wrong.
func (f *facts) Complete() bool {
	return !slices.ContainsFunc(f.objects, func(f inside.Found) bool { return f.Live == nil })
}

// Settled says that there is nothing to do but to wait: all is as it should be,
// or someone deleted the namespace, which is made anew once it is gone.
func (f *facts) Settled() bool {
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
