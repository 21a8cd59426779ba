// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const exposition = `# HELP kubeopera_helm_actions_total Helm actions.
# TYPE kubeopera_helm_actions_total counter
kubeopera_helm_actions_total{action="install",result="success"} 3
kubeopera_helm_actions_total{action="upgrade",result="success"} 2
kubeopera_helm_actions_total{action="upgrade",result="error"} 1
# TYPE workqueue_depth gauge
workqueue_depth{name="tenant"} 7
`

func TestSum(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		family  string
		labels  []string
		want    float64
		wantErr bool
	}{
		"All":       {reason: "without labels all count", family: HelmActions, want: 6},
		"OneLabel":  {reason: "only those with the label count", family: HelmActions, labels: []string{"action", "upgrade"}, want: 3},
		"TwoLabels": {reason: "all labels must match", family: HelmActions, labels: []string{"action", "upgrade", "result", "error"}, want: 1},
		"NoSeries":  {reason: "a family without such a series stands at zero", family: HelmActions, labels: []string{"action", "unlock"}, want: 0},
		"Absent":    {reason: "a family that is gone must not pass for zero", family: HostWrites, wantErr: true},
		"NoCounter": {reason: "a gauge may go back, so it proves nothing", family: "workqueue_depth", wantErr: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, err := ParseMetrics(strings.NewReader(exposition))
			if err != nil {
				t.Fatal(err)
			}

			got, err := m.Sum(tc.family, tc.labels...)
			if got != tc.want || (err != nil) != tc.wantErr {
				t.Errorf("%s: Sum(%q, %q) = %v, %v; want %v, error %t", tc.reason, tc.family, tc.labels, got, err, tc.want, tc.wantErr)
			}
		})
	}
}

func TestParseMetricsRefusesRubbish(t *testing.T) {
	t.Parallel()

	if _, err := ParseMetrics(strings.NewReader("404 page not found {")); err == nil {
		t.Error("rubbish was taken for metrics")
	}
}

func TestSecondsBy(t *testing.T) {
	t.Parallel()

	m, err := ParseMetrics(strings.NewReader(`# TYPE took_seconds histogram
took_seconds_bucket{stage="a",le="+Inf"} 2
took_seconds_sum{stage="a"} 3.5
took_seconds_count{stage="a"} 2
took_seconds_bucket{stage="b",le="+Inf"} 1
took_seconds_sum{stage="b"} 1
took_seconds_count{stage="b"} 1
`))
	if err != nil {
		t.Fatal(err)
	}

	want := map[string]Seconds{"a": {Sum: 3.5, Count: 2}, "b": {Sum: 1, Count: 1}}
	if diff := cmp.Diff(want, m.SecondsBy("took_seconds", "stage")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	if got := m.SecondsBy("other_seconds", "stage"); len(got) != 0 {
		t.Errorf("want nothing of a family that was not seen, got %v", got)
	}
}
