// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

const manifest = crdYAML + `
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: source-controller}
spec:
  replicas: 2
  template:
    spec:
      initContainers: [{name: first, image: "example.com/first:v0"}]
      containers: [{name: manager, image: "ghcr.io/fluxcd/source-controller:v1"}, {name: beside, image: "example.com/beside:v2"}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a-first, namespace: other}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: kustomize-controller}
spec: {template: {spec: {containers: [{name: manager, image: "ghcr.io/fluxcd/kustomize-controller:v1"}]}}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: alerts.notification.toolkit.fluxcd.io}
spec: {group: notification.toolkit.fluxcd.io, names: {plural: alerts}, versions: rubbish}
---
apiVersion: v1
kind: Service
metadata: {name: source-controller}
---
apiVersion: example.com/v1
kind: Deployment
metadata: {name: no-deployment}
`

func TestExpected(t *testing.T) {
	t.Parallel()

	source := func(version string) schema.GroupVersion {
		return schema.GroupVersion{Group: "source.toolkit.fluxcd.io", Version: version}
	}
	want := Parts{
		Deployments: []Deployment{
			{Namespace: Namespace, Name: "kustomize-controller", Replicas: 1, Images: []string{"ghcr.io/fluxcd/kustomize-controller:v1"}},
			{
				Namespace: Namespace, Name: "source-controller", Replicas: 2,
				Images: []string{"example.com/first:v0", "ghcr.io/fluxcd/source-controller:v1", "example.com/beside:v2"},
			},
			{Namespace: "other", Name: "a-first", Replicas: 1},
		},
		CRDs: []CRD{
			{Name: "alerts.notification.toolkit.fluxcd.io", Resource: "alerts"},
			{Name: "buckets.source.toolkit.fluxcd.io", Resource: "buckets", GroupVersions: []schema.GroupVersion{source("v1"), source("v1beta2")}},
		},
	}

	// Twice, since the second time is from memory.
	for range 2 {
		got, err := Expected(&helm.Release{Name: ReleaseName, Namespace: Namespace, Manifest: manifest})
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
	}

	got, err := Expected(&helm.Release{Name: ReleaseName, Namespace: "elsewhere", Manifest: manifest})
	if err != nil || got.Deployments[0].String() != "elsewhere/kustomize-controller" {
		t.Errorf("the namespace is the release's: %v, %v", got.Deployments, err)
	}

	if got, err := Expected(&helm.Release{}); err != nil || got.Deployments != nil || got.CRDs != nil {
		t.Errorf("nothing consists of nothing: %v, %v", got, err)
	}
}

// TestExpectedOfRendered holds that a rendered chart and a release of it consist
// of the same.
func TestExpectedOfRendered(t *testing.T) {
	t.Parallel()

	objs, err := newChart(t, sourceYAML, kustomizeYAML, hookYAML, crdYAML).
		Render(ReleaseName, Namespace, Values(Spec{ImageRegistry: "r.example.com"}), helm.WithoutSurge())
	if err != nil {
		t.Fatal(err)
	}

	got, err := readParts(objs, Namespace)
	if err != nil {
		t.Fatal(err)
	}

	var images []string
	for _, d := range got.Deployments {
		images = append(images, d.String()+"="+strings.Join(d.Images, ","))
	}

	want := []string{
		"flux-system/kustomize-controller=example.com/first:v0,r.example.com/fluxcd/kustomize-controller:v1",
		"flux-system/source-controller=r.example.com/fluxcd/source-controller:v1",
	}
	if diff := cmp.Diff(want, images); diff != "" || len(got.CRDs) != 1 {
		t.Errorf("%d CRDs, images: -want, +got:\n%s", len(got.CRDs), diff)
	}
}

func TestExpectedRefuses(t *testing.T) {
	t.Parallel()

	for name, raw := range map[string]string{
		"NotYAML":      "a: b: c",
		"NoDeployment": "{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}, spec: {replicas: two}}",
	} {
		_, err := Expected(&helm.Release{Name: ReleaseName, Manifest: raw})
		if err == nil {
			t.Errorf("%s: took it", name)
		}
	}
}
