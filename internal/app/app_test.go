// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPodNamespace(t *testing.T) {
	t.Parallel()
	podFile := filepath.Join(t.TempDir(), "namespace")
	if err := os.WriteFile(podFile, []byte("kubeopera-system"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason  string
		asked   string
		podFile string
		want    string
	}{
		"Asked":   {"What was asked for is taken.", "here", podFile, "here"},
		"InPod":   {"Else it is the pod's own.", "", podFile, "kubeopera-system"},
		"Outside": {"Outside of a cluster there is no own one.", "", podFile + "-none", "kubeopera-system"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := podNamespace(tc.asked, tc.podFile); got != tc.want {
				t.Errorf("%s\npodNamespace(...): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

func TestRunNeedsChartCache(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := valid(t)
	c.ChartCache = filepath.Join(file, "charts")
	err := Run(t.Context(), c, NewLogger(t.Output(), false))
	if err == nil {
		t.Fatal("Run(...): want an error")
	}
	for _, want := range []string{"--chart-cache (CHART_CACHE)", c.ChartCache, "set it to a folder that the provider may write to"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Charts that cannot be kept are found before the cluster is asked for.\nRun(...): want %q, got %v", want, err)
		}
	}
}
