// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"errors"
	"strings"
	"testing"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

func TestParseChartVersion(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		in     string
		want   string
		err    error
	}{
		"oldest":            {"start of the range", "0.20.0", "0.20.0", nil},
		"default":           {"the provider's default", "0.21.2", "0.21.2", nil},
		"newest":            {"any patch of the last known minor", "0.36.99", "0.36.99", nil},
		"leading v":         {"charts are tagged without it", "v0.30.4", "0.30.4", nil},
		"pre-release":       {"leads to a supported version", "0.33.0-rc.1", "0.33.0-rc.1", nil},
		"C4: too old":       {"another layout of the values", "0.19.7", "", ErrUnsupportedChartVersion},
		"pre-release of 20": {"older than the present layout", "0.20.0-beta.1", "", ErrUnsupportedChartVersion},
		"C4: too new":       {"schema unknown", "0.37.0", "", ErrUnsupportedChartVersion},
		"pre-release of 37": {"schema unknown", "0.37.0-alpha.1", "", ErrUnsupportedChartVersion},
		"next major":        {"schema unknown", "1.21.0", "", ErrUnsupportedChartVersion},
		"not exact":         {"would be taken for 0.21.0", "0.21", "", ErrUnsupportedChartVersion},
		"range":             {"one chart is installed, not any of many", "~0.21", "", ErrUnsupportedChartVersion},
		"empty":             {"must be chosen by the caller", "", "", ErrUnsupportedChartVersion},
		"word":              {"no version", "latest", "", ErrUnsupportedChartVersion},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := ParseChartVersion(tc.in)
			if !errors.Is(err, tc.err) {
				t.Fatalf("%s: want error %v, got %v", tc.reason, tc.err, err)
			}

			if err != nil {
				wantWords(t, err, `"`+tc.in+`"`, "use ", SupportedCharts)

				return
			}

			if got.String() != tc.want {
				t.Errorf("%s: want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}

func TestDistroByChart(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		standard v1alpha1.Distro
		hasK3s   bool
	}{
		"0.20.0":      {v1alpha1.DistroK3s, true},
		"0.32.9":      {v1alpha1.DistroK3s, true},
		"0.33.0-rc.1": {v1alpha1.DistroK8s, false},
		"0.33.0":      {v1alpha1.DistroK8s, false},
		"0.36.1":      {v1alpha1.DistroK8s, false},
	}
	for version, want := range cases {
		t.Run(version, func(t *testing.T) {
			t.Parallel()

			v, err := ParseChartVersion(version)
			if err != nil {
				t.Fatal(err)
			}

			if got := v.defaultDistro(); got != want.standard {
				t.Errorf("default distro: want %s, got %s", want.standard, got)
			}

			if got := v.hasDistro(v1alpha1.DistroK3s); got != want.hasK3s {
				t.Errorf("has k3s: want %t, got %t", want.hasK3s, got)
			}

			if !v.hasDistro(v1alpha1.DistroK8s) || v.hasDistro("k0s") {
				t.Error("each chart has k8s and none a distro that the provider does not know")
			}
		})
	}
}

// wantWords checks that an error tells a person each of the words.
func wantWords(t *testing.T, err error, words ...string) {
	t.Helper()

	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error must name %s: %v", word, err)
		}
	}
}
