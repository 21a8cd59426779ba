// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestLowered(t *testing.T) {
	t.Parallel()

	platform := Allowance{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}, Pods: 2}
	limit := []corev1.ResourceName{corev1.ResourceLimitsCPU}
	cases := map[string]struct {
		reason           string
		want, have, used string
		reserve          Allowance
		wall             string
		over             []corev1.ResourceName
	}{
		"Raised":     {reason: "a wall rises at once", want: "9", have: "7", used: "6", wall: "9"},
		"Fits":       {reason: "and comes down at once as long as all fits", want: "5", have: "7", used: "5", wall: "5"},
		"Over":       {reason: "what is in use stays within it", want: "5", have: "7", used: "6500m", wall: "6500m", over: limit},
		"Incomplete": {reason: "so does what the platform lacks", want: "5", have: "7", used: "3", reserve: platform, wall: "6"},
		"NoHigher":   {reason: "no higher than it is", want: "5", have: "7", used: "6", reserve: platform, wall: "7", over: limit},
		"Broken":     {reason: "one that is below what is in use rises to that, so that it can be made anew", want: "5", have: "4", used: "6", wall: "6", over: limit},
		"Beyond":     {reason: "and lets nothing in besides", want: "5", have: "5", used: "6", reserve: platform, wall: "6", over: limit},
		"There":      {reason: "a wall that is as wanted is not over as long as all fits", want: "5", have: "5", used: "5", wall: "5"},
		"New":        {reason: "a new limit has effect at once: nothing of it is counted yet", want: "5", used: "0", reserve: platform, wall: "5"},
		"NewLater":   {reason: "also if something of it was counted", want: "5", used: "6", reserve: platform, wall: "5"},
		"Unused":     {reason: "nothing runs", want: "5", have: "7", used: "0", reserve: platform, wall: "5"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			of := func(s string) corev1.ResourceList {
				if s == "" {
					return nil
				}

				return corev1.ResourceList{corev1.ResourceLimitsCPU: resource.MustParse(s)}
			}
			have := &corev1.ResourceQuota{Spec: corev1.ResourceQuotaSpec{Hard: of(tc.have)}, Status: corev1.ResourceQuotaStatus{Used: of(tc.used)}}
			want := corev1.ResourceQuotaSpec{Hard: of(tc.want)}

			wall, over := Lowered(want, have, tc.reserve)
			if diff := cmp.Diff(map[string]string{"limits.cpu": tc.wall}, words(wall.Hard)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.over, over); diff != "" {
				t.Errorf("%s: over: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(map[string]string{"limits.cpu": tc.want}, words(want.Hard)); diff != "" {
				t.Errorf("%s: what was given was changed: %s", tc.reason, diff)
			}
		})
	}
}
