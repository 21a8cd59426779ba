// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func rounds(tenant ...float64) []round {
	out := make([]round, len(tenant))
	for i, s := range tenant {
		out[i] = round{same: 10 * time.Second, tenant: time.Duration(s * float64(time.Second)), defaults: 20 * time.Second, whole: 15 * time.Second}
	}

	return out
}

func TestVerdict(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		rounds []round
		want   []string // parts of the error; none means a pass
	}{
		"Fast":        {reason: "both bounds hold", rounds: rounds(10, 9, 10.5)},
		"OneOutlier":  {reason: "the median and not the mean counts", rounds: rounds(10, 40, 10)},
		"Bound":       {reason: "the bound itself is allowed", rounds: rounds(10.5, 10.5, 10.5)},
		"SlowerThanA": {reason: "the provider costs too much", rounds: rounds(10.6, 9, 10.7), want: []string{"1.060", "the same values", "1.05"}},
		"SlowerThanBoth": {reason: "both are named", rounds: rounds(18, 18, 18), want: []string{
			"1.800", "the same values", "0.900", "the chart's defaults", "0.85",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := summarize(tc.rounds).verdict()
			if (err != nil) != (len(tc.want) > 0) || (err != nil && !errors.Is(err, errSlow)) {
				t.Fatalf("%s: got %v", tc.reason, err)
			}

			for _, w := range tc.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%s: %q is missing in %q", tc.reason, w, err)
				}
			}
		})
	}
}

func TestTable(t *testing.T) {
	t.Parallel()

	got := summarize(rounds(10, 11, 12)).table()
	for _, want := range []string{"10.00 s", "11.00 s", "1.000", "0.500", "1.100", "0.550", "1.05", "0.85", "15.00 s", "1.364"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
}

func TestRotate(t *testing.T) {
	t.Parallel()

	names := func(ws []way) string {
		var out []string
		for _, w := range ws {
			out = append(out, w.name)
		}

		return strings.Join(out, "")
	}
	all := func() []way { return []way{{name: "a"}, {name: "b"}, {name: "c"}} }

	for by, want := range []string{"abc", "bca", "cab", "abc"} {
		if got := names(rotate(all(), by)); got != want {
			t.Errorf("rotate by %d: got %q, want %q", by, got, want)
		}
	}
}

func TestTooFewRounds(t *testing.T) {
	t.Parallel()

	if err := (flags{Rounds: minRounds - 1}).Validate(); err == nil || !strings.Contains(err.Error(), "--rounds") {
		t.Errorf("got %v, want an error that names the flag", err)
	}

	if err := (flags{Rounds: minRounds}).Validate(); err != nil {
		t.Error(err)
	}
}
