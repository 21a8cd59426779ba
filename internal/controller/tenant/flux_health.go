// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/workload"
)

// maxDeployments is how many Deployments of Flux's namespace are looked at. What
// else is there is the tenant's.
const maxDeployments = client.Limit(500)

// byHelm is a label that Helm puts on all that it makes.
var byHelm = client.MatchingLabels{helm.LabelManagedBy: helm.ManagedByHelm}

// lookAtFlux finds out whose Flux is and how it is, and says which object of its
// release is gone.
func (e *external) lookAtFlux(ctx context.Context, in *wayIn, f *fluxFacts) (missing string, err error) {
	have := &appsv1.DeploymentList{}
	if err := in.live.List(ctx, have, client.InNamespace(flux.Namespace), maxDeployments); err != nil {
		return "", fmt.Errorf("cannot list the Deployments of Flux inside the vCluster: %w", err)
	}

	if f.takenOver = flux.TakenOver(f.release, have.Items); f.takenOver != "" || f.release == nil {
		return "", nil
	}

	want, err := flux.Expected(f.release)
	if err != nil {
		// What the release holds is no Flux. The next revision may be one.
		f.health = "cannot read what it consists of: " + err.Error()
		return "", nil
	}

	crds, err := readCRDs(ctx, in.live)
	if err != nil {
		return "", err
	}

	established, err := e.established(ctx, in.live, want.CRDs, crds)
	if err != nil {
		return "", err
	}

	troubles, err := fluxTroubles(ctx, in.live, want, have.Items)
	if err != nil {
		return "", err
	}

	f.healthy, f.health = flux.Health(want, flux.Observed{
		Deployments: have.Items,
		Established: func(c flux.CRD) bool { return established.Has(c.Name) },
		Trouble:     troubles,
	})

	f.scaledDown = findScaledDown(want, have.Items)

	return missingOf(want, have.Items, crds), nil
}

// findScaledDown finds the Deployments of Flux that should run and have no replicas.
func findScaledDown(want flux.Parts, have []appsv1.Deployment) []scaledDown {
	wanted := map[string]int32{}
	for _, d := range want.Deployments {
		wanted[d.String()] = d.Replicas
	}

	var out []scaledDown

	for i := range have {
		d := &have[i]
		if n := wanted[d.GetNamespace()+"/"+d.GetName()]; n > 0 && ptr.Deref(d.Spec.Replicas, 1) == 0 {
			out = append(out, scaledDown{deployment: d, replicas: n})
		}
	}

	return out
}

// readCRDs are the names of the CRDs that Helm has made.
func readCRDs(ctx context.Context, c client.Reader) (sets.Set[string], error) {
	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinitionList"))

	if err := c.List(ctx, l, byHelm); err != nil {
		return nil, fmt.Errorf("cannot list CustomResourceDefinitions inside the vCluster: %w", err)
	}

	names := sets.New[string]()
	for i := range l.Items {
		names.Insert(l.Items[i].GetName())
	}

	return names, nil
}

// established are those of the CRDs that the API serves. Once Flux was ready, one
// that is there is: only then are they read, which are large.
func (e *external) established(ctx context.Context, c client.Reader, want []flux.CRD, there sets.Set[string]) (sets.Set[string], error) {
	if e.before.GetCondition(v1alpha1.TypeFluxReady).Status == corev1.ConditionTrue {
		return there, nil
	}

	out := sets.New[string]()

	for _, w := range want {
		if !there.Has(w.Name) {
			continue
		}

		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := c.Get(ctx, client.ObjectKey{Name: w.Name}, crd); err != nil {
			return nil, fmt.Errorf("cannot read CustomResourceDefinition %q inside the vCluster: %w", w.Name, err)
		}

		for _, cond := range crd.Status.Conditions {
			if cond.Type == apiextensionsv1.Established && cond.Status == apiextensionsv1.ConditionTrue {
				out.Insert(w.Name)
			}
		}
	}

	return out, nil
}

// fluxTroubles says why Deployments of Flux are not available, by namespace/name.
func fluxTroubles(ctx context.Context, c client.Reader, want flux.Parts, all []appsv1.Deployment) (map[string]string, error) {
	wanted := sets.New[string]()
	for _, d := range want.Deployments {
		wanted.Insert(d.String())
	}

	out := map[string]string{}

	for i := range all {
		d := &all[i]
		if !wanted.Has(d.GetNamespace()+"/"+d.GetName()) || workload.DeploymentAvailable(d) || d.Spec.Selector == nil {
			continue
		}

		trouble, err := workload.Trouble(ctx, c, "Deployment", d.GetName(), d.GetNamespace(), d.Spec.Selector.MatchLabels)
		if err != nil {
			return nil, err
		}

		out[d.GetNamespace()+"/"+d.GetName()] = trouble
	}

	return out, nil
}

// missingOf says which part of Flux is gone.
func missingOf(want flux.Parts, have []appsv1.Deployment, crds sets.Set[string]) string {
	there := sets.New[string]()
	for i := range have {
		there.Insert(have[i].GetNamespace() + "/" + have[i].GetName())
	}

	for _, d := range want.Deployments {
		if !there.Has(d.String()) {
			return fmt.Sprintf("its Deployment %q is gone", d)
		}
	}

	for _, c := range want.CRDs {
		if !crds.Has(c.Name) {
			return fmt.Sprintf("its CustomResourceDefinition %q is gone", c.Name)
		}
	}

	return ""
}
