// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
)

// Chart is a chart that can be installed. It does not change and is safe for
// concurrent use.
type Chart struct {
	helm   *chart.Chart
	digest string

	mu      sync.Mutex
	schemas map[string]*jsonschema.Schema
}

// LoadChart reads a packed chart (a .tgz). The error wraps ErrChartInvalid.
func LoadChart(archive []byte) (*Chart, error) {
	hc, err := safely(func() (*chart.Chart, error) {
		return loader.LoadArchive(bytes.NewReader(archive))
	})
	if err != nil {
		return nil, fmt.Errorf("%w: cannot read it: %w", ErrChartInvalid, oneLine(err))
	}
	if err := hc.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrChartInvalid, oneLine(err))
	}
	return &Chart{helm: hc, digest: digest(archive), schemas: map[string]*jsonschema.Schema{}}, nil
}

// Name is what the chart calls itself.
func (c *Chart) Name() string { return c.helm.Metadata.Name }

// Version is the chart's version, not that of the application in it.
func (c *Chart) Version() string { return c.helm.Metadata.Version }

// Digest identifies the chart by its packed content: "sha256:" and 64 digits.
func (c *Chart) Digest() string { return c.digest }

// clone returns a chart that Helm may change, as it does while it resolves
// subcharts. Files are shared: they are only read.
func (c *Chart) clone() *chart.Chart { return cloneChart(c.helm) }

func cloneChart(in *chart.Chart) *chart.Chart {
	out := &chart.Chart{
		Raw:       in.Raw,
		Lock:      in.Lock,
		Templates: in.Templates,
		Values:    deepCopyMap(in.Values),
		Schema:    in.Schema,
		Files:     in.Files,
	}
	if in.Metadata != nil {
		m := *in.Metadata
		m.Dependencies = nil
		for _, d := range in.Metadata.Dependencies {
			if d == nil {
				continue
			}
			dep := *d
			m.Dependencies = append(m.Dependencies, &dep)
		}
		out.Metadata = &m
	}
	for _, d := range in.Dependencies() {
		out.AddDependency(cloneChart(d))
	}
	return out
}
