// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// meta are labels or annotations.
type meta map[string]string

func deployment(namespace, name string, labels, annotations meta) appsv1.Deployment {
	return appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels, Annotations: annotations}}
}

func TestTakenOver(t *testing.T) {
	t.Parallel()

	const own = "the tenant manages Flux itself: "

	mine := &helm.Release{Name: ReleaseName, Revision: 2, ChartName: "flux2", ChartVersion: "2.18.3", Ours: true}
	theirs := &helm.Release{Name: ReleaseName, Revision: 3, ChartName: "flux2", ChartVersion: "2.19.0"}
	owned := meta{helm.AnnotationReleaseName: ReleaseName, "meta.helm.sh/release-namespace": Namespace}
	ours := deployment(Namespace, "source-controller", meta{labelPartOf: "flux"}, owned)

	cases := map[string]struct {
		reason      string
		release     *helm.Release
		deployments []appsv1.Deployment
		message     string
	}{
		"Ours":      {"we wrote it and it is there", mine, []appsv1.Deployment{ours}, ""},
		"Coming":    {"we wrote it and nothing is there yet", mine, nil, ""},
		"Nothing":   {"nothing is installed", nil, nil, ""},
		"Left":      {"our release is gone, its Deployment is not: it is installed again over it", nil, []appsv1.Deployment{ours}, ""},
		"Rewritten": {"someone else has upgraded the release", theirs, []appsv1.Deployment{ours}, `revision 3 of Helm release "flux", chart flux2 2.19.0, was written by someone else`},
		"Bootstrapped": {
			"flux bootstrap has applied over our Deployments", mine,
			[]appsv1.Deployment{deployment(Namespace, "source-controller", meta{
				labelPartOf: "flux", "kustomize.toolkit.fluxcd.io/name": "flux-system", "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
			}, owned)},
			"Deployment flux-system/source-controller is applied by Kustomization flux-system/flux-system",
		},
		"BootstrappedFirst": {
			"flux bootstrap was faster", nil,
			[]appsv1.Deployment{deployment(Namespace, "helm-controller", meta{
				labelPartOf: "flux", "kustomize.toolkit.fluxcd.io/name": "x", "kustomize.toolkit.fluxcd.io/namespace": "y",
			}, nil)},
			"Deployment flux-system/helm-controller is applied by Kustomization y/x",
		},
		"HelmRelease": {
			"a HelmRelease installs it", nil,
			[]appsv1.Deployment{deployment(Namespace, "kustomize-controller", meta{
				"helm.toolkit.fluxcd.io/name": "flux", "helm.toolkit.fluxcd.io/namespace": "apps",
			}, owned)},
			"Deployment flux-system/kustomize-controller is applied by HelmRelease apps/flux",
		},
		"Operator": {
			"an operator installs it", mine,
			[]appsv1.Deployment{deployment(Namespace, "source-controller", meta{
				"fluxcd.controlplane.io/name": "flux", "fluxcd.controlplane.io/namespace": "flux-system",
			}, owned)},
			"Deployment flux-system/source-controller is applied by FluxInstance flux-system/flux",
		},
		"ByHand": {
			"flux install", nil, []appsv1.Deployment{deployment(Namespace, "source-controller", meta{labelPartOf: "flux"}, nil)},
			"Deployment flux-system/source-controller was not installed by Helm",
		},
		"WithoutLabels": {
			"a name is enough", mine, []appsv1.Deployment{deployment(Namespace, "kustomize-controller", nil, nil)},
			"Deployment flux-system/kustomize-controller was not installed by Helm",
		},
		"OtherRelease": {
			"a release of another name", nil, []appsv1.Deployment{deployment(Namespace, "source-controller", nil, meta{helm.AnnotationReleaseName: "my-flux"})},
			`Deployment flux-system/source-controller belongs to Helm release "my-flux"`,
		},
		"First": {
			"of several the first by name is told", mine, []appsv1.Deployment{
				deployment(Namespace, "source-controller", nil, nil), ours, deployment(Namespace, "kustomize-controller", nil, nil),
			},
			"Deployment flux-system/kustomize-controller was not installed by Helm",
		},
		"Others": {
			"what is not Flux does not count, whatever it carries", mine, []appsv1.Deployment{
				deployment(Namespace, "podinfo", meta{"kustomize.toolkit.fluxcd.io/name": "apps"}, nil),
				deployment("apps", "source-controller", meta{labelPartOf: "flux", "kustomize.toolkit.fluxcd.io/name": "apps"}, nil), ours,
			}, "",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			want := tc.message
			if want != "" {
				want = own + want
			}

			for range 2 {
				if got := TakenOver(tc.release, tc.deployments); got != want {
					t.Errorf("%s: got %q, want %q", tc.reason, got, want)
				}

				slices.Reverse(tc.deployments)
			}
		})
	}
}
