// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
)

// insideRemains are what is left inside the vCluster of a Tenant that is being
// deleted. All of it goes with the vCluster too: it is removed before, as long as
// its controllers still run.
type insideRemains struct {
	// children are the Tenant's own AdvisorAgent and TenantQuota, which take away
	// what they have made.
	children []client.Object
	// flux says that the release is there, in says how to reach it.
	flux bool
	in   *wayIn
	// unseen says why it could not be looked at.
	unseen error
	// skip says that there is no time left for it.
	skip bool
}

func (r insideRemains) none() bool { return len(r.children) == 0 && !r.flux && r.unseen == nil }

// words names all of it.
func (r insideRemains) words() []string {
	var out []string
	for _, o := range r.children {
		words := named(inside.KindOf(o), o)
		if why := waitingFor(o); why != "" {
			words = fmt.Sprintf("%s %s, which is %s", inside.KindOf(o), o.GetName(), why)
		}

		out = append(out, words)
	}

	if r.flux {
		out = append(out, fmt.Sprintf("release %q inside the vCluster", flux.ReleaseName))
	}

	if r.unseen != nil {
		out = append(out, "Flux and whatever else is inside the vCluster, which cannot be reached: "+r.unseen.Error())
	}

	return out
}

// waitingFor is what a child that is being deleted says that it waits for itself.
func waitingFor(o client.Object) string {
	if o.GetDeletionTimestamp() == nil {
		return ""
	}

	switch o := o.(type) {
	case *v1alpha1.AdvisorAgent:
		return o.Status.Message
	case *v1alpha1.TenantQuota:
		return o.Status.Message
	default:
		return ""
	}
}

func (r insideRemains) describe() string { return "waiting for " + strings.Join(r.words(), "; ") }

// readInsideRemains looks at what is inside, as long as the vCluster is there.
func (e *external) readInsideRemains(ctx context.Context, t *v1alpha1.Tenant, host remains) (insideRemains, error) {
	var r insideRemains

	if host.release == nil {
		return r, nil // Nothing can be inside. What is left beside the Tenant goes with it.
	}

	for _, o := range []client.Object{&v1alpha1.AdvisorAgent{}, &v1alpha1.TenantQuota{}} {
		err := e.kubeLive.Get(ctx, client.ObjectKeyFromObject(t), o)
		if client.IgnoreNotFound(err) != nil {
			return r, fmt.Errorf("cannot read %s %q: %w", inside.KindOf(o), t.GetName(), err)
		}

		if err == nil && metav1.IsControlledBy(o, t) {
			r.children = append(r.children, o)
		}
	}

	if wantFlux(t, e.defaults).wanted && host.namespace != nil && host.namespace.GetDeletionTimestamp() == nil {
		r.flux, r.in, r.unseen = e.findFlux(ctx, t)
	}

	if r.none() {
		return r, nil
	}

	rest := inside.TenantBudget - e.clock.Since(t.GetDeletionTimestamp().Time)
	r.skip = rest <= 0

	if !r.skip {
		e.lookAgain(rest)
	}

	return r, nil
}

// findFlux looks for our release of it inside the vCluster. A vCluster that never
// had a kubeconfig has none.
func (e *external) findFlux(ctx context.Context, t *v1alpha1.Tenant) (bool, *wayIn, error) {
	ctx, cancel := context.WithTimeout(ctx, inside.PassTimeout)
	defer cancel()

	s, err := e.publishedSecret(ctx, t)
	if err != nil || s == nil {
		return false, nil, err
	}

	k, err := e.readKubeconfig(ctx, t)
	if err != nil {
		return false, nil, err
	}

	in, err := e.open(k)
	if err != nil {
		return false, nil, err
	}

	// It also gives up connections that lead nowhere.
	if err := in.probe(ctx); err != nil {
		return false, nil, fmt.Errorf("the tenant's API at %s cannot be used: %w", k.Endpoint(), err)
	}

	releases, err := in.flux()
	if err != nil {
		return false, nil, err
	}

	r, err := releases.Get(ctx, flux.ReleaseName)

	switch {
	case errors.Is(err, helm.ErrReleaseNotFound):
		return false, in, nil
	case err != nil:
		return false, nil, tenantapi.Steady(err)
	default:
		return r.Ours, in, nil
	}
}

// removeInside asks for the deletion of what the Tenant has beside it, and then of
// Flux. What cannot be reached is looked at again.
func (e *external) removeInside(ctx context.Context, r insideRemains) error {
	for _, o := range r.children {
		if err := removeFrom(ctx, e.kube, o); err != nil && !kerrors.IsConflict(err) {
			return err
		}
	}

	if !r.flux {
		return nil
	}

	ctx, cancel := context.WithTimeout(ctx, inside.PassTimeout)
	defer cancel()

	releases, err := r.in.flux()
	if err == nil {
		err = releases.Uninstall(ctx, flux.ReleaseName)
	}

	if err != nil {
		return fmt.Errorf("cannot uninstall release %q inside the vCluster: %w", flux.ReleaseName, err)
	}

	return nil
}

// tellSkipped lists what is left to go with the vCluster.
func (e *external) tellSkipped(t *v1alpha1.Tenant, r insideRemains) {
	if r.none() {
		return
	}

	e.record.Event(t, event.Warning(reasonSkipped, fmt.Errorf("not removed within %s, and left to go with the vCluster: %s",
		inside.TenantBudget, strings.Join(r.words(), "; "))))
}
