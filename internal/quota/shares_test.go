// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

func TestShares(t *testing.T) {
	t.Parallel()

	allowance := Allowance{
		Requests: corev1.ResourceList{corev1.ResourceCPU: *q("520m"), corev1.ResourceMemory: *q("1088Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: *q("3"), corev1.ResourceMemory: *q("4266Mi")},
		Storage:  *q("5Gi"), Pods: 2,
	}

	cases := map[string]struct {
		reason              string
		quota               v1alpha1.QuotaSpec
		allowance           Allowance
		workloads, platform map[string]string
	}{
		"Defaults": {
			"the tenant has exactly what the spec says", v1alpha1.QuotaSpec{CPU: q("2"), Memory: q("4Gi")}, allowance,
			map[string]string{"limits.cpu": "2", "requests.cpu": "2", "limits.memory": "4Gi", "requests.memory": "4Gi"},
			map[string]string{"limits.cpu": "3", "requests.cpu": "520m", "limits.memory": "4266Mi", "requests.memory": "1088Mi"},
		},
		"Everything": {
			"storage and pods are shared as well, where they are bounded",
			v1alpha1.QuotaSpec{CPU: q("500m"), Memory: q("1G"), Storage: q("50Gi"), Pods: ptr.To(int32(20))}, allowance,
			map[string]string{
				"limits.cpu": "500m", "requests.cpu": "500m", "limits.memory": "1G", "requests.memory": "1G", "requests.storage": "50Gi", "pods": "20",
			},
			map[string]string{
				"limits.cpu": "3", "requests.cpu": "520m", "limits.memory": "4473225216", "requests.memory": "1140850688", "requests.storage": "5Gi", "pods": "2",
			},
		},
		"Nothing": {"no quota has no shares", v1alpha1.QuotaSpec{}, allowance, map[string]string{}, map[string]string{}},
		"NoAllowance": {
			"no allowance leaves nothing", v1alpha1.QuotaSpec{CPU: q("4"), Pods: ptr.To(int32(1))}, Allowance{},
			map[string]string{"limits.cpu": "4", "requests.cpu": "4", "pods": "1"},
			map[string]string{"limits.cpu": "0", "requests.cpu": "0", "pods": "0"},
		},
		"Fine": {
			"what is rounded up is rounded up once, and no share is less than nothing",
			v1alpha1.QuotaSpec{CPU: q("0.0001"), Memory: q("1.0001Gi")},
			Allowance{Limits: corev1.ResourceList{corev1.ResourceCPU: *q("0.0001")}, Requests: corev1.ResourceList{corev1.ResourceCPU: *q("0.0011")}},
			map[string]string{"limits.cpu": "1m", "requests.cpu": "1m", "limits.memory": "1073849199", "requests.memory": "1073849199"},
			map[string]string{"limits.cpu": "0", "requests.cpu": "1m", "limits.memory": "0", "requests.memory": "0"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			before := tc.quota.DeepCopy()

			got := Shares(tc.quota, Wall(tc.quota, tc.allowance).Hard)
			if diff := cmp.Diff(tc.workloads, words(got.Workloads)); diff != "" {
				t.Errorf("%s: workloads: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.workloads, words(TenantHard(tc.quota))); diff != "" {
				t.Errorf("%s: the inner quota: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(tc.platform, words(got.Platform)); diff != "" {
				t.Errorf("%s: platform: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(words(Wall(tc.quota, tc.allowance).Hard), words(got.Hard)); diff != "" {
				t.Errorf("%s: -wall, +hard:\n%s", tc.reason, diff)
			}

			for resource, hard := range got.Hard {
				if both := sum(got.Workloads[resource], got.Platform[resource]); both.Cmp(hard) != 0 {
					t.Errorf("%s: the shares of %s make %s, not %s", tc.reason, resource, both.String(), hard.String())
				}
			}

			if got.Used != nil {
				t.Errorf("%s: what is used is not known here: %v", tc.reason, got.Used)
			}

			if diff := cmp.Diff(before, &tc.quota); diff != "" {
				t.Errorf("%s: the quota itself was changed: %s", tc.reason, diff)
			}
		})
	}
}
