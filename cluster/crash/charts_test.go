// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package crash

import (
	"net/http"
	"path/filepath"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/repo"

	"github.com/kubeopera/provider-kubeopera/internal/vcluster/vclustertest"
)

// Versions of the charts of these tests.
const (
	oldVCluster = "0.34.0"
	newVCluster = "0.36.1"
	fluxVersion = "2.19.0"
)

// packCharts makes a chart repository: vCluster's real charts, and a fake of Flux's
// with one object of each kind that the real one has, since each object more is a
// call more.
func packCharts(t *testing.T) http.Handler {
	t.Helper()

	folder := t.TempDir()
	for _, version := range []string{oldVCluster, newVCluster} {
		packChart(t, filepath.Join(vclustertest.ModuleDir(t, version), "chart"), version, folder)
	}

	packChart(t, filepath.Join("testdata", "fake-flux2"), fluxVersion, folder)

	index, err := repo.IndexDirectory(folder, "")
	if err != nil {
		t.Fatalf("cannot make the index of the charts: %v", err)
	}

	if err := index.WriteFile(filepath.Join(folder, "index.yaml"), 0o600); err != nil {
		t.Fatalf("cannot write the index of the charts: %v", err)
	}

	return http.FileServer(http.Dir(folder))
}

func packChart(t *testing.T, from, version, to string) {
	t.Helper()

	c, err := loader.LoadDir(from)
	if err != nil {
		t.Fatalf("cannot load the chart in %q: %v", from, err)
	}

	c.Metadata.Version, c.Metadata.AppVersion = version, version
	if _, err := chartutil.Save(c, to); err != nil {
		t.Fatalf("cannot pack the chart in %q: %v", from, err)
	}
}
