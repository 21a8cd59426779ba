// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// TestOptions holds that nothing is on that was not asked for.
func TestOptions(t *testing.T) {
	t.Parallel()

	on := &feature.Flags{}
	on.Enable(feature.EnableBetaManagementPolicies)

	logged := &feature.Flags{}
	logged.Enable(feature.EnableAlphaChangeLogs)

	none := len(Options(controller.Options{Features: &feature.Flags{}}))

	for name, tc := range map[string]struct {
		options controller.Options
		more    int
	}{
		"Policies":   {controller.Options{Features: on}, 1},
		"Metrics":    {controller.Options{Features: &feature.Flags{}, MetricOptions: &controller.MetricOptions{MRMetrics: managed.NewMRMetricRecorder()}}, 1},
		"ChangeLogs": {controller.Options{Features: logged, ChangeLogOptions: &controller.ChangeLogOptions{}}, 1},
		"Everything": {controller.Options{Features: on, MetricOptions: &controller.MetricOptions{MRMetrics: managed.NewMRMetricRecorder()}}, 2},
	} {
		if got := len(Options(tc.options)) - none; got != tc.more {
			t.Errorf("%s: %d options more, want %d", name, got, tc.more)
		}
	}
}

func TestPollInterval(t *testing.T) {
	t.Parallel()

	with := func(c xpv2.Condition) resource.Managed {
		t := &v1alpha1.Tenant{}
		t.SetConditions(c)

		return t
	}

	asks := func(mg resource.Managed, d string) resource.Managed {
		meta.AddAnnotations(mg, map[string]string{meta.AnnotationKeyPollInterval: d})
		return mg
	}

	cases := map[string]struct {
		reason string
		mg     resource.Managed
		poll   time.Duration
		want   time.Duration
	}{
		"Ready":     {"what is Ready is polled as the options say", with(xpv2.Available()), 10 * time.Minute, 10 * time.Minute},
		"Creating":  {"anything else every 15 s", with(xpv2.Creating()), 10 * time.Minute, 15 * time.Second},
		"Failed":    {"what failed too", with(xpv2.Unavailable()), 10 * time.Minute, 15 * time.Second},
		"Deleting":  {"and what is being deleted", with(xpv2.Deleting()), 10 * time.Minute, 15 * time.Second},
		"Unknown":   {"and what was never looked at", &v1alpha1.AdvisorAgent{}, 10 * time.Minute, 15 * time.Second},
		"Asked":     {"but for what asks for a poll of its own", asks(with(xpv2.Creating()), "10m"), 10 * time.Minute, 10 * time.Minute},
		"Nonsense":  {"in words that are none", asks(with(xpv2.Creating()), "seldom"), 10 * time.Minute, 15 * time.Second},
		"ShortPoll": {"a poll that is shorter stays", with(xpv2.Creating()), 6 * time.Second, 6 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			spread := map[time.Duration]bool{}

			for range 100 {
				got := pollInterval(tc.mg, tc.poll)
				if most := tc.want + time.Duration(float64(tc.want)*pollJitter); got < tc.want || got > most {
					t.Fatalf("%s: %s is not from %s to %s", tc.reason, got, tc.want, most)
				}

				spread[got] = true
			}

			if len(spread) < 2 {
				t.Errorf("%s: 100 polls all wait equally long", tc.reason)
			}
		})
	}
}
