// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

func TestNamesOf(t *testing.T) {
	t.Parallel()

	want := names{
		release: "vc-alice-default", namespace: "vcluster-alice-default", exported: "vc-vc-alice-default",
		secret: "tenant-7e9d3a1b-0000-4000-8000-000000000002-kubeconfig",
	}
	if got := namesOf(alice().Obj()); got != want {
		t.Errorf("want %+v, got %+v", want, got)
	}
}

func TestPollInterval(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		mg     resource.Managed
		poll   time.Duration
		want   time.Duration
	}{
		"Ready":       {"a Ready Tenant is polled as the options say", alice().Phase(v1alpha1.PhaseReady).Obj(), 10 * time.Minute, 10 * time.Minute},
		"NotReady":    {"any other every 15 s", alice().Phase(v1alpha1.PhaseProvisioning).Obj(), 10 * time.Minute, 15 * time.Second},
		"Failed":      {"a failed one too", alice().Phase(v1alpha1.PhaseFailed).Obj(), 10 * time.Minute, 15 * time.Second},
		"Deleting":    {"and one that is being deleted", alice().Phase(v1alpha1.PhaseDeleting).Obj(), 10 * time.Minute, 15 * time.Second},
		"ShortPoll":   {"a poll that is shorter stays", alice().Obj(), 6 * time.Second, 6 * time.Second},
		"AnotherKind": {"another kind is none of its business", &fake.Managed{}, time.Minute, time.Minute},
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
