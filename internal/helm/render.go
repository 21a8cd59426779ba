// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"fmt"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// renderVersion is the Kubernetes that a template sees which is rendered without
// a cluster. Helm's own stand-in is years old.
var renderVersion = chartutil.KubeVersion{Version: "v1.36.0", Major: "1", Minor: "36"}

// Render returns the objects that a first install of c by a Client with the same
// options would write, as ManifestObjects gives them: without hooks and without
// CRDs that are not templates. There is no cluster: templates see a current
// Kubernetes with its own API versions and look up nothing, and what versions of
// Kubernetes the chart asks for does not count. It renders anew at each call,
// which takes long for a chart with CRDs. The error wraps ErrValuesRefused if the
// chart does not take the values.
func (c *Chart) Render(name, namespace string, values map[string]any, opts ...Option) ([]*unstructured.Unstructured, error) {
	if err := c.Validate(values); err != nil {
		return nil, err
	}
	v, err := copyValues(values)
	if err != nil {
		return nil, err
	}
	hc := c.clone()
	hc.Metadata.KubeVersion = ""

	r, err := safely(func() (*release.Release, error) {
		a := action.NewInstall(&action.Configuration{Log: func(string, ...any) {}})
		a.ReleaseName = name
		a.Namespace = namespace
		a.ClientOnly = true
		a.DryRun = true
		a.KubeVersion = &renderVersion
		a.PostRenderer = newOptions(opts).postRenderer()
		a.SkipSchemaValidation = true // Validate did it
		return a.Run(hc, v)
	})
	if err != nil {
		return nil, fmt.Errorf("cannot render chart %q %s: %w", c.Name(), c.Version(), oneLine(err))
	}
	return ManifestObjects(toRelease(r, nil))
}
