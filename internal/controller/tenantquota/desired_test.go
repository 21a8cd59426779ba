// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantquota

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

func hard(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}

	return out
}

func TestLimitRange(t *testing.T) {
	t.Parallel()

	words := func(l corev1.ResourceList) string { return l.Cpu().String() + " " + l.Memory().String() }

	cases := map[string]struct {
		reason          string
		hard            corev1.ResourceList
		limit, requests string
	}{
		"Enough":       {"the defaults", hard("limits.cpu", "4", "limits.memory", "8Gi"), "500m 512Mi", "50m 64Mi"},
		"Unbounded":    {"also without a quota on CPU and memory", hard("pods", "3"), "500m 512Mi", "50m 64Mi"},
		"SmallLimits":  {"a default above the whole quota would refuse every container", hard("limits.cpu", "100m", "limits.memory", "128Mi"), "100m 128Mi", "50m 64Mi"},
		"TinyLimits":   {"a request is never above its limit", hard("limits.cpu", "10m", "limits.memory", "16Mi"), "10m 16Mi", "10m 16Mi"},
		"Requests":     {"the same for requests", hard("requests.cpu", "20m", "requests.memory", "32Mi"), "500m 512Mi", "20m 32Mi"},
		"ShortNames":   {"by their short names, too", hard("cpu", "20m", "memory", "32Mi"), "500m 512Mi", "20m 32Mi"},
		"Both":         {"the smaller counts", hard("cpu", "30m", "requests.cpu", "20m"), "500m 512Mi", "20m 64Mi"},
		"BothTurned":   {"whichever it is", hard("cpu", "20m", "requests.cpu", "30m"), "500m 512Mi", "20m 64Mi"},
		"NothingAtAll": {"a limit of 0 would be none: what a quota of nothing refuses stays refused", hard("limits.cpu", "0", "requests.memory", "0"), "500m 512Mi", "50m 64Mi"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			l := limitRange(tc.hard).Limits[0]
			if words(l.Default) != tc.limit || words(l.DefaultRequest) != tc.requests {
				t.Errorf("%s: limits %s, requests %s", tc.reason, words(l.Default), words(l.DefaultRequest))
			}
		})
	}
}

func TestDesire(t *testing.T) {
	t.Parallel()

	q := insidetest.Quota("q")
	q.Spec.Namespaces = []string{"b", "a"}

	namespaces, err := desire(inside.OwnerOf(q, insidetest.Tenant()), q)
	if err != nil {
		t.Fatal(err)
	}

	var got []string
	for _, n := range namespaces {
		got = append(got, n.namespace.String(), n.limits.String(), n.quota.String())
	}

	want := []string{
		`Namespace "a" inside the vCluster`, `LimitRange "kubeopera-tenant" in namespace "a" inside the vCluster`, `ResourceQuota "kubeopera-tenant" in namespace "a" inside the vCluster`,
		`Namespace "b" inside the vCluster`, `LimitRange "kubeopera-tenant" in namespace "b" inside the vCluster`, `ResourceQuota "kubeopera-tenant" in namespace "b" inside the vCluster`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	if diff := cmp.Diff([]string{"b", "a"}, q.Spec.Namespaces); diff != "" {
		t.Errorf("the spec was changed: %s", diff)
	}

	q.Spec.Namespaces = nil

	if namespaces, err = desire(inside.OwnerOf(q, insidetest.Tenant()), q); err != nil || len(namespaces) != 1 || namespaces[0].namespace.GetName() != "default" {
		t.Errorf("without namespaces: %v, %v", namespaces, err)
	}
}
