// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package crash

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
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

	h, err := rig.ChartRepositoryOf(folder)
	if err != nil {
		t.Fatal(err)
	}

	return h
}

func packChart(t *testing.T, from, version, to string) {
	t.Helper()

	if _, err := rig.PackChart(from, version, to); err != nil {
		t.Fatal(err)
	}
}
