// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(*flags)
		want   []string // parts of the error; none means that there is none
	}{
		"Good":      {reason: "these can be measured", change: func(*flags) {}},
		"Set":       {reason: "the provider has other settings than its poll", change: func(f *flags) { f.Set = []string{"DEBUG=true", "SYNC=2h"} }},
		"NoSteps":   {reason: "there is nothing to measure", change: func(f *flags) { f.Steps = nil }, want: []string{"--steps", "from 1 to"}},
		"NoTenants": {reason: "none costs nothing", change: func(f *flags) { f.Steps = []int{10, 0} }, want: []string{"--steps", "from 1 to"}},
		"TooMany":   {reason: "the host has no addresses for them", change: func(f *flags) { f.Steps = []int{maxTenants + 1} }, want: []string{"--steps", "10000"}},
		"Rest":      {reason: "no Tenant is polled", change: func(f *flags) { f.Rest = 0 }, want: []string{"--rest", "2m6s or a multiple"}},
		"OddRest":   {reason: "of three polls one or two read", change: func(f *flags) { f.Rest = twoPolls * 3 / 2 }, want: []string{"--rest 3m9s", "2m6s or a multiple"}},
		"LongRest":  {reason: "the more polls the better", change: func(f *flags) { f.Rest = 2 * twoPolls }},
		"NoSamples": {reason: "there is no median of none", change: func(f *flags) { f.Samples = 0 }, want: []string{"--samples", "1 or more"}},
		"NoValue":   {reason: "a name alone sets nothing", change: func(f *flags) { f.Set = []string{"DEBUG"} }, want: []string{"--set", "DEBUG", "NAME=VALUE"}},
		"FewerCRDs": {reason: "none can be taken away", change: func(f *flags) { f.ForeignCRDs = -1 }, want: []string{"--foreign-crds", "0 or more"}},
		"Poll":      {reason: "a longer poll would not have come when the rest begins", change: func(f *flags) { f.Set = []string{"DEBUG=true", "POLL=5m"} }, want: []string{"--set POLL", "leave it out"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := flags{Steps: []int{1, 10}, Rest: twoPolls, Samples: 1}
			tc.change(&f)

			err := f.Validate()
			if (err != nil) != (len(tc.want) > 0) {
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
