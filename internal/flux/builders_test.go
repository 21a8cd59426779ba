// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"testing"

	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// newChart packs a small flux2 from its templates.
func newChart(t *testing.T, templates ...string) *helm.Chart {
	t.Helper()

	files := map[string]string{"Chart.yaml": "apiVersion: v2\nname: flux2\nversion: " + DefaultChartVersion + "\n"}
	for i, body := range templates {
		files["templates/"+string(rune('a'+i))+".yaml"] = body
	}

	var packed bytes.Buffer

	z := gzip.NewWriter(&packed)
	w := tar.NewWriter(z)

	for name, body := range files {
		err := w.WriteHeader(&tar.Header{Name: "flux2/" + name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(body))})
		if err == nil {
			_, err = w.Write([]byte(body))
		}

		if err != nil {
			t.Fatal(err)
		}
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	if err := z.Close(); err != nil {
		t.Fatal(err)
	}

	c, err := helm.LoadChart(packed.Bytes())
	if err != nil {
		t.Fatal(err)
	}

	return c
}

// Templates as those of flux2: one controller with a strategy, one without, a
// hook that always runs, and a CRD.
const (
	sourceYAML = `
{{- if .Values.sourceController.create }}
apiVersion: apps/v1
kind: Deployment
metadata: {name: source-controller}
spec:
  replicas: 1
  strategy: {type: Recreate}
  template:
    spec:
      containers:
      - name: manager
        image: {{ .Values.sourceController.image | default "ghcr.io/fluxcd/source-controller" }}:v1
        resources: {{ toYaml .Values.sourceController.resources | nindent 10 }}
{{- end }}
`
	kustomizeYAML = `
{{- if .Values.kustomizeController.create }}
apiVersion: apps/v1
kind: Deployment
metadata: {name: kustomize-controller}
spec:
  replicas: 1
  template:
    spec:
      initContainers: [{name: first, image: "example.com/first:v0"}]
      containers:
      - name: manager
        image: {{ .Values.kustomizeController.image | default "ghcr.io/fluxcd/kustomize-controller" }}:v1
        resources: {{ toYaml .Values.kustomizeController.resources | nindent 10 }}
{{- end }}
`
	hookYAML = `
apiVersion: batch/v1
kind: Job
metadata: {name: flux-check, annotations: {helm.sh/hook: pre-install}}
`
	crdYAML = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: buckets.source.toolkit.fluxcd.io}
spec:
  group: source.toolkit.fluxcd.io
  names: {kind: Bucket, plural: buckets}
  versions:
  - {name: v1, served: true, storage: true}
  - {name: v1beta2, served: true}
  - {name: v1beta1, served: false}
  - {name: v1alpha1}
`
)
