// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
)

// fluxFacts are what one pass found out about Flux inside the vCluster.
type fluxFacts struct {
	// may is what the management policies allow.
	may     reconciler.Policies
	wanted  bool
	desired desired
	// invalid says why the spec cannot become a release.
	invalid error

	// seen says that the vCluster was looked into; unseen says why it could not be.
	seen   bool
	unseen error
	// ranBefore says that it was ready when it was seen last.
	ranBefore bool

	release *helm.Release
	state   releaseState
	reason  string
	// takenOver says in words that the tenant manages Flux itself; empty when not.
	takenOver string
	// scaledDown are Deployments that someone scaled to 0: their share of the quota
	// would be the customer's.
	scaledDown []scaledDown
	// healthy says that all of it works, health in words what does not.
	healthy bool
	health  string
}

// scaledDown is a Deployment of Flux without replicas, and how many it should have.
type scaledDown struct {
	deployment *appsv1.Deployment
	replicas   int32
}

// wantFlux says what of Flux is wanted.
func wantFlux(t *v1alpha1.Tenant, d defaults) fluxFacts {
	s := ptr.Deref(t.Spec.Flux, v1alpha1.FluxSpec{})
	f := fluxFacts{wanted: ptr.Deref(s.Enabled, true)}

	if !f.wanted {
		return f
	}

	overrides, err := overridesOf("flux.valuesOverrides", s.ValuesOverrides)
	if err != nil {
		f.invalid = err
		return f
	}

	f.desired = desired{
		chartVersion: strings.TrimPrefix(ptr.Deref(s.ChartVersion, d.fluxChartVersion), "v"),
		values:       flux.Values(flux.Spec{ImageRegistry: d.ImageRegistry, Overrides: overrides}),
	}

	return f
}

// gatherFlux looks at Flux if it is wanted and there is a way in. That it cannot be
// seen, which the tenant's admin can bring about, holds nothing else back.
func (e *external) gatherFlux(ctx context.Context, f *facts) {
	if !f.flux.wanted || f.access.kubeconfig == nil {
		return
	}

	if err := e.readFlux(ctx, f.access.in, &f.flux); err != nil {
		f.flux.unseen = unknown(fmt.Errorf("what Flux does cannot be looked at now: %w", tenantapi.Steady(err)))
		f.flux.ranBefore = e.before.GetCondition(v1alpha1.TypeFluxReady).Status == corev1.ConditionTrue

		return
	}

	if f.flux.healthy || f.flux.takenOver != "" {
		f.access.in.unfollow(flux.Namespace)
	} else if f.flux.state == releaseInSync {
		f.access.in.follow(flux.Namespace)
	}
}

// readFlux looks at Flux inside the vCluster.
func (e *external) readFlux(ctx context.Context, in *wayIn, f *fluxFacts) error {
	releases, err := in.flux()
	if err != nil {
		return err
	}

	r, err := releases.Get(ctx, flux.ReleaseName)
	if err != nil && !errors.Is(err, helm.ErrReleaseNotFound) {
		return fmt.Errorf("cannot read release %q inside the vCluster: %w", flux.ReleaseName, err)
	}

	if err == nil {
		f.release = r
	}

	missing, err := e.lookAtFlux(ctx, in, f)
	if err != nil {
		return err
	}

	f.seen = true
	f.state, f.reason = e.classify(f.release, f.desired, missing)

	switch {
	case f.invalid != nil:
		f.state, f.reason = releaseInvalid, f.invalid.Error()
	case f.state == releaseAbsent:
		f.reason = "it is not installed yet"
	}

	return nil
}

// settled says that there is nothing to do but to wait.
func (f *fluxFacts) settled() bool {
	if !f.wanted || (!f.seen && f.unseen == nil) || f.takenOver != "" || f.state == releaseLocked {
		return true
	}

	return f.state == releaseInSync && len(f.scaledDown) == 0
}

// unfinished says that it is missing, or was not installed to the end.
func (f *fluxFacts) unfinished() bool {
	return f.wanted && f.seen && f.takenOver == "" && isUnfinished(f.state, f.release)
}

func (f *fluxFacts) stage() xpv2.Condition {
	ct := v1alpha1.TypeFluxReady

	switch {
	case !f.wanted:
		return skipped(ct, "flux.enabled is false")
	case !f.seen:
		return f.unseenStage()
	case f.takenOver != "":
		return xpv2.Condition{Type: ct, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonUnmanaged, Message: f.takenOver}
	case f.may.LooksOnly():
		return f.observedStage()
	case f.state == releaseInSync && f.healthy:
		return done(ct)
	case f.state == releaseInSync:
		return notDone(ct, v1alpha1.ReasonProgressing, "Flux: "+f.health)
	case f.state != releaseDrifted && f.healthy:
		return waits(f.may, ct, "Flux: "+f.reason)
	case f.state == releaseInvalid || f.state == releaseFailed:
		return notDone(ct, v1alpha1.ReasonFailed, "Flux: "+f.reason)
	default:
		return notDone(ct, v1alpha1.ReasonProgressing, "Flux: "+f.reason)
	}
}

func (f *fluxFacts) unseenStage() xpv2.Condition {
	ct := v1alpha1.TypeFluxReady

	switch {
	case f.unseen == nil:
		return notDone(ct, v1alpha1.ReasonWaiting, "the tenant's API does not answer yet")
	case f.ranBefore:
		return pendingChange(ct, f.unseen.Error())
	default:
		return notDone(ct, v1alpha1.ReasonProgressing, f.unseen.Error())
	}
}

// makeFlux installs Flux, or brings it to what is wanted.
func (e *external) makeFlux(ctx context.Context, t *v1alpha1.Tenant, in *wayIn, f *fluxFacts) error {
	if f.unseen != nil {
		return f.unseen
	}

	if f.invalid != nil {
		return f.invalid
	}

	if f.state == releaseInSync {
		return e.scaleFluxUp(ctx, t, in, f)
	}

	c, err := e.fluxChart(ctx, f.desired.chartVersion)
	if err != nil {
		return err
	}

	// What cannot be counted is refused: its pods would come before their allowance,
	// or could not be read again.
	if _, err := e.fluxNeeds(ctx, f.desired); errors.Is(err, helm.ErrValuesRefused) {
		return fmt.Errorf("cannot use flux.valuesOverrides: %w", err)
	} else if err != nil {
		return err
	}

	if err := makeFluxNamespace(ctx, in); err != nil {
		return err
	}

	releases, err := in.flux()
	if err != nil {
		return err
	}

	in.follow(flux.Namespace)

	return e.writeRelease(ctx, t, releases, flux.ReleaseName, releaseChange{
		chart: c, values: f.desired.values, release: f.release, state: f.state, reason: f.reason, where: " inside the vCluster",
	})
}

// scaleFluxUp gives Deployments the replicas back that their release says.
func (e *external) scaleFluxUp(ctx context.Context, t *v1alpha1.Tenant, in *wayIn, f *fluxFacts) error {
	in.follow(flux.Namespace)

	for _, s := range f.scaledDown {
		was := fmt.Sprintf("someone scaled Deployment %q of Flux to 0", s.deployment.GetName())

		if err := e.repairOnce(t, part(flux.ReleaseName+"/"+s.deployment.GetName()), was, settleTime, func() error {
			d, before := s.deployment, s.deployment.DeepCopy()
			d.Spec.Replicas = &s.replicas

			if err := in.live.Patch(ctx, d, client.MergeFrom(before)); err != nil {
				return fmt.Errorf("cannot scale Deployment %q of Flux inside the vCluster up: %w", d.GetName(), err)
			}

			e.record.Event(t, event.Normal(reasonRepaired, was))

			return nil
		}); err != nil {
			return err
		}
	}

	return nil
}

func makeFluxNamespace(ctx context.Context, in *wayIn) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   flux.Namespace,
		Labels: map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy},
	}}

	if err := in.live.Create(ctx, ns); err != nil && !kerrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot create namespace %q inside the vCluster: %w", flux.Namespace, err)
	}

	return nil
}
