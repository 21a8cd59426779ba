// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package chart packs the charts of vCluster, Flux and Crossplane, and pushes
// them to the registry.
package chart

import (
	"fmt"
	"io"
	"os"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	helmregistry "helm.sh/helm/v3/pkg/registry"
)

// Pack packs the chart in the folder under the version, as a .tgz in dest, and
// returns its path.
func Pack(folder, version, dest string) (string, error) {
	c, err := loader.LoadDir(folder)
	if err != nil {
		return "", fmt.Errorf("cannot load chart: %w", err)
	}
	return save(c, version, version, dest)
}

func save(c *chart.Chart, version, appVersion, dest string) (string, error) {
	c.Metadata.Version, c.Metadata.AppVersion = version, appVersion
	file, err := chartutil.Save(c, dest)
	if err != nil {
		return "", fmt.Errorf("cannot pack chart: %w", err)
	}
	return file, nil
}

// Push pushes the packed chart to the reference, such as
// 10.89.0.1:5000/charts/x:1.0.0, by plain HTTP.
func Push(file, reference string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("cannot read packed chart: %w", err)
	}
	client, err := helmregistry.NewClient(helmregistry.ClientOptPlainHTTP(), helmregistry.ClientOptWriter(io.Discard))
	if err != nil {
		return fmt.Errorf("cannot make registry client: %w", err)
	}
	if _, err := client.Push(b, reference); err != nil {
		return fmt.Errorf("cannot push chart: %w", err)
	}
	return nil
}
