// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/chart"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// testChart returns a chart of version 1.2.3.
func testChart(t *testing.T) *helm.Chart {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Chart.yaml"), []byte("apiVersion: v2\nname: thing\nversion: 0.0.1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := chart.Pack(dir, "1.2.3", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	archive, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ch, err := helm.LoadChart(archive)
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

func TestInstallOrUpgrade(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	values := map[string]any{"a": float64(1)}
	release := func(s helm.Status, version string, values map[string]any) *helm.Release {
		return &helm.Release{Status: s, ChartVersion: version, Values: values}
	}
	cases := map[string]struct {
		reason string
		there  *helm.Release
		getErr error
		actErr error
		did    []string
		want   error
	}{
		"Absent":      {reason: "what is not there is installed", getErr: helm.ErrReleaseNotFound, did: []string{"install"}},
		"Uninstalled": {reason: "a record of what was there is nothing that is there", there: release(helm.StatusUninstalled, "1.2.3", values), did: []string{"install"}},
		"Same":        {reason: "a second run changes nothing", there: release(helm.StatusDeployed, "1.2.3", map[string]any{"a": 1})},
		"OtherChart":  {reason: "another version is upgraded", there: release(helm.StatusDeployed, "1.2.2", values), did: []string{"upgrade"}},
		"OtherValues": {reason: "other values are written over", there: release(helm.StatusDeployed, "1.2.3", nil), did: []string{"upgrade"}},
		"Failed":      {reason: "what failed is tried again", there: release(helm.StatusFailed, "1.2.3", values), did: []string{"upgrade"}},
		"Pending":     {reason: "what an interrupted run left is unlocked first", there: release(helm.StatusPendingInstall, "1.2.3", values), did: []string{"unlock", "upgrade"}},
		"Unreadable":  {reason: "unknown is not absent", getErr: broken, want: broken},
		"Refused":     {reason: "an error of an action is told", getErr: helm.ErrReleaseNotFound, actErr: broken, did: []string{"install"}, want: broken},
		"Locked":      {reason: "what cannot be unlocked is not upgraded", there: release(helm.StatusPendingUpgrade, "1.2.3", values), actErr: broken, did: []string{"unlock"}, want: broken},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var did []string
			act := func(what string) func(context.Context, string, *helm.Chart, map[string]any) (*helm.Release, error) {
				return func(context.Context, string, *helm.Chart, map[string]any) (*helm.Release, error) {
					did = append(did, what)
					return nil, tc.actErr
				}
			}
			client := helm.ClientFns{
				GetFn:     func(context.Context, string) (*helm.Release, error) { return tc.there, tc.getErr },
				InstallFn: act("install"),
				UpgradeFn: act("upgrade"),
				UnlockFn: func(context.Context, *helm.Release) error {
					did = append(did, "unlock")
					return tc.actErr
				},
			}
			if err := installOrUpgrade(t.Context(), client, "thing", testChart(t), values); !errors.Is(err, tc.want) {
				t.Errorf("%s: installOrUpgrade(...) = %v, want %v", tc.reason, err, tc.want)
			}
			if diff := cmp.Diff(tc.did, did); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCrossplaneNeedsCluster(t *testing.T) {
	t.Parallel()
	if err := newCluster(t).Crossplane(t.Context()); !errors.Is(err, ErrNotUp) {
		t.Errorf("Crossplane(...) = %v, want %v", err, ErrNotUp)
	}
}

func TestReason(t *testing.T) {
	t.Parallel()
	err, why := errors.New("failed"), errors.New("took too long")
	if got := reason(t.Context(), err); !errors.Is(got, err) || errors.Is(got, why) {
		t.Errorf("reason(...) = %v as long as there is time", got)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if got := reason(ctx, err); !errors.Is(got, err) || !errors.Is(got, why) {
		t.Errorf("reason(...) = %v, want %v and %v", got, why, err)
	}
}
