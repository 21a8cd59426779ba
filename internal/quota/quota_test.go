// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// q is a quantity.
func q(s string) *resource.Quantity { return ptr.To(resource.MustParse(s)) }

// words are the quantities of a list as people write them.
func words(l corev1.ResourceList) map[string]string {
	out := map[string]string{}
	for name, q := range l {
		out[string(name)] = q.String()
	}

	return out
}

func TestWall(t *testing.T) {
	t.Parallel()

	allowance := Allowance{
		Requests: corev1.ResourceList{corev1.ResourceCPU: *q("520m"), corev1.ResourceMemory: *q("1088Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: *q("3"), corev1.ResourceMemory: *q("4266Mi")},
		Storage:  *q("5Gi"), Pods: 2,
	}

	cases := map[string]struct {
		reason    string
		quota     v1alpha1.QuotaSpec
		allowance Allowance
		want      map[string]string
	}{
		"Defaults": {
			reason: "the quota is the tenant's: what the platform needs comes on top, for requests and limits",
			quota:  v1alpha1.QuotaSpec{CPU: q("2"), Memory: q("4Gi")}, allowance: allowance,
			want: map[string]string{"limits.cpu": "5", "requests.cpu": "2520m", "limits.memory": "8362Mi", "requests.memory": "5184Mi"},
		},
		"Everything": {
			reason:    "storage and pods are bounded where they are named",
			quota:     v1alpha1.QuotaSpec{CPU: q("500m"), Memory: q("1G"), Storage: q("50Gi"), Pods: ptr.To(int32(20))},
			allowance: allowance,
			want: map[string]string{
				"limits.cpu": "3500m", "requests.cpu": "1020m", "limits.memory": "5473225216", "requests.memory": "2140850688",
				"requests.storage": "55Gi", "pods": "22",
			},
		},
		"StorageOnly": {reason: "what is not named is not bounded", quota: v1alpha1.QuotaSpec{Storage: q("1Gi")}, allowance: allowance, want: map[string]string{"requests.storage": "6Gi"}},
		"Nothing":     {reason: "no quota bounds nothing", allowance: allowance, want: map[string]string{}},
		"NoAllowance": {
			reason: "no allowance adds nothing", quota: v1alpha1.QuotaSpec{CPU: q("4"), Pods: ptr.To(int32(1))},
			want: map[string]string{"limits.cpu": "4", "requests.cpu": "4", "pods": "1"},
		},
		"Fine": {
			reason: "what is finer than the API server stores is rounded up as it does",
			quota:  v1alpha1.QuotaSpec{CPU: q("0.0001"), Memory: q("1.0001Gi"), Storage: q("1.0001Gi")},
			want: map[string]string{
				"limits.cpu": "1m", "requests.cpu": "1m", "limits.memory": "1073849199", "requests.memory": "1073849199",
				"requests.storage": "1073849199",
			},
		},
		"Largest": {
			reason: "what the schema allows does not overflow",
			quota:  v1alpha1.QuotaSpec{CPU: q("100000"), Memory: q("1Pi"), Storage: q("1Ei"), Pods: ptr.To(int32(100000))}, allowance: allowance,
			want: map[string]string{
				"limits.cpu": "100003", "requests.cpu": "100000520m", "limits.memory": "1073746090Mi", "requests.memory": "1073742912Mi",
				"requests.storage": "1073741829Gi", "pods": "100002",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			before := tc.quota.DeepCopy()

			got := Wall(tc.quota, tc.allowance)
			if diff := cmp.Diff(tc.want, words(got.Hard)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			if got.Scopes != nil || got.ScopeSelector != nil {
				t.Errorf("%s: the wall holds for everything, not for %v", tc.reason, got)
			}

			if diff := cmp.Diff(before, &tc.quota); diff != "" {
				t.Errorf("%s: the quota itself was changed: %s", tc.reason, diff)
			}
		})
	}
}

// TestLimitRange holds that a container that asks for nothing is admitted by a
// quota on CPU and memory.
func TestLimitRange(t *testing.T) {
	t.Parallel()

	l := LimitRange()
	if len(l.Limits) != 1 || l.Limits[0].Type != corev1.LimitTypeContainer {
		t.Fatalf("want one limit on containers, got %v", l.Limits)
	}

	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		limit, hasLimit := l.Limits[0].Default[name]
		request, hasRequest := l.Limits[0].DefaultRequest[name]

		if !hasLimit || !hasRequest || limit.Sign() <= 0 || request.Sign() <= 0 || request.Cmp(limit) > 0 {
			t.Errorf("%s: limit %s, request %s", name, limit.String(), request.String())
		}
	}

	if l.Limits[0].Max != nil || l.Limits[0].Min != nil {
		t.Errorf("containers that ask for something are bounded by the quota alone: %v", l.Limits[0])
	}

	// What a caller does with it is the caller's.
	l.Limits[0].Default[corev1.ResourceCPU] = *q("99")

	if again := LimitRange().Limits[0].Default[corev1.ResourceCPU]; again.String() != "500m" {
		t.Errorf("a caller changed the default to %s", again.String())
	}
}
