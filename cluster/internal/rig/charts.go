// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"fmt"
	"net/http"
	"path/filepath"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/repo"
)

// PackChart packs the chart in the folder as that version of it, and returns the archive.
func PackChart(from, version, to string) (string, error) {
	c, err := loader.LoadDir(from)
	if err != nil {
		return "", fmt.Errorf("cannot load the chart in %q: %w", from, err)
	}

	c.Metadata.Version, c.Metadata.AppVersion = version, version

	archive, err := chartutil.Save(c, to)
	if err != nil {
		return "", fmt.Errorf("cannot pack the chart in %q: %w", from, err)
	}

	return archive, nil
}

// ChartRepositoryOf serves the packed charts in the folder as a chart repository.
func ChartRepositoryOf(folder string) (http.Handler, error) {
	index, err := repo.IndexDirectory(folder, "")
	if err != nil {
		return nil, fmt.Errorf("cannot make the index of the charts: %w", err)
	}

	if err := index.WriteFile(filepath.Join(folder, "index.yaml"), 0o600); err != nil {
		return nil, fmt.Errorf("cannot write the index of the charts: %w", err)
	}

	return http.FileServer(http.Dir(folder)), nil
}
