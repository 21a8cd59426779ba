// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package barehelm

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/action"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster/vclustertest"
)

func TestRenamed(t *testing.T) {
	t.Parallel()

	values := map[string]any{"sans": []any{"vc-alice.vcluster-alice.svc"}, "labels": map[string]any{"id": "id-1"}, "n": 1.0}

	got, err := Renamed(values, "alice", "bob", "id-1", "id-2")
	if err != nil {
		t.Fatal(err)
	}

	want := map[string]any{"sans": []any{"vc-bob.vcluster-bob.svc"}, "labels": map[string]any{"id": "id-2"}, "n": 1.0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestInstallerAgain holds that vCluster's chart serves for one install after the other:
// the last of them is that of a chart that was just loaded.
func TestInstallerAgain(t *testing.T) {
	t.Parallel()

	archive, err := rig.PackChart(filepath.Join(vclustertest.ModuleDir(t, rig.ChartVersion), "chart"), rig.ChartVersion, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	raw, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}

	h := New(raw, "")
	used, fresh := installer(t, h), installer(t, h)

	render(t, used, "first", map[string]any{"controlPlane": map[string]any{"coredns": map[string]any{"enabled": false}, "ingress": map[string]any{"enabled": true}}})

	if diff := cmp.Diff(render(t, fresh, "next", nil), render(t, used, "next", nil)); diff != "" {
		t.Errorf("the first install shows in the next: -fresh chart, +used chart:\n%s", diff)
	}
}

func installer(t *testing.T, h *Helm) *Installer {
	t.Helper()

	i, err := h.Installer()
	if err != nil {
		t.Fatal(err)
	}

	return i
}

// render is what would be installed.
func render(t *testing.T, i *Installer, release string, values map[string]any) string {
	t.Helper()

	a := action.NewInstall(&action.Configuration{Log: t.Logf})
	a.ReleaseName, a.Namespace, a.ClientOnly, a.DryRun = release, release, true, true

	r, err := a.Run(i.chart, values)
	if err != nil {
		t.Fatal(err)
	}

	return r.Manifest
}
