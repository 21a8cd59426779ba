// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"cmp"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

const labelPartOf = "app.kubernetes.io/part-of"

// appliers are the labels that Flux itself puts on what it applies: who carries
// one is managed from Git, by the kind named.
var appliers = []struct{ label, namespace, kind string }{
	{"kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace", "Kustomization"},
	{"helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace", "HelmRelease"},
	{"fluxcd.controlplane.io/name", "fluxcd.controlplane.io/namespace", "FluxInstance"},
}

// TakenOver says in words by what it shows that the tenant manages Flux itself; empty
// when it does not. The release may be nil, if there is none. It is taken over when someone
// else wrote it last, or when Flux's Deployments are applied from elsewhere.
func TakenOver(r *helm.Release, deployments []appsv1.Deployment) string {
	const own = "the tenant manages Flux itself: "

	if r != nil && !r.Ours {
		return own + fmt.Sprintf("revision %d of Helm release %q, chart %s %s, was written by someone else",
			r.Revision, r.Name, r.ChartName, r.ChartVersion)
	}

	var found []*appsv1.Deployment

	for i := range deployments {
		if isFlux(&deployments[i]) {
			found = append(found, &deployments[i])
		}
	}

	slices.SortFunc(found, func(a, b *appsv1.Deployment) int { return cmp.Compare(a.GetName(), b.GetName()) })

	for _, d := range found {
		if who := otherOwner(d); who != "" {
			return own + fmt.Sprintf("Deployment %s/%s %s", d.GetNamespace(), d.GetName(), who)
		}
	}

	return ""
}

// isFlux says whether a Deployment is one of Flux's, whoever installed it.
func isFlux(d *appsv1.Deployment) bool {
	if d.GetNamespace() != Namespace {
		return false
	}

	return d.GetLabels()[labelPartOf] == "flux" || d.GetName() == "source-controller" || d.GetName() == "kustomize-controller"
}

// otherOwner says who else than our release has a Deployment, or nothing.
func otherOwner(d *appsv1.Deployment) string {
	for _, a := range appliers {
		if name := d.GetLabels()[a.label]; name != "" {
			return fmt.Sprintf("is applied by %s %s/%s", a.kind, d.GetLabels()[a.namespace], name)
		}
	}

	switch owner := d.GetAnnotations()[helm.AnnotationReleaseName]; owner {
	case ReleaseName:
		return ""
	case "":
		return "was not installed by Helm"
	default:
		return fmt.Sprintf("belongs to Helm release %q", owner)
	}
}
