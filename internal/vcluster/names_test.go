// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestNames(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		got    any
		want   any
	}{
		"release":          {"the Helm release and the external name", ReleaseName("alice-default"), "vc-alice-default"},
		"namespace":        {"the host namespace", HostNamespace("alice-default"), "vcluster-alice-default"},
		"published Secret": {"made from the cloudSpaceID", KubeconfigSecretName("7e9d"), "tenant-7e9d-kubeconfig"},
		"exported Secret":  {"vCluster prefixes the release once more", ExportedSecretName("vc-alice"), "vc-vc-alice"},
		"service host":     {"without the cluster domain", ServiceHost("vc-a", "vcluster-a"), "vc-a.vcluster-a.svc"},
		"control plane": {
			"the labels of the chart's templates", ControlPlaneLabels("vc-a"),
			map[string]string{"app": "vcluster", "release": "vc-a"},
		},
		"cluster roles": {
			"both that the templates can make", ClusterRoleNames("vc-a", "vcluster-a"),
			[]string{"vc-vc-a-v-vcluster-a", "vc-mn-vc-a-v-vcluster-a"},
		},
		"sync owner": {"short enough to stay readable", ClusterSyncOwner("vc-a", "vcluster-a"), "vcluster-a-x-vc-a"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNamesOfTheLongestTenant(t *testing.T) {
	t.Parallel()

	tenant := strings.Repeat("a", 32)
	release, namespace := ReleaseName(tenant), HostNamespace(tenant)

	want := []string{
		"vc-vc-" + tenant + "-v-vcluster-" + strings.Repeat("a", 13),
		"vc-mn-vc-" + tenant + "-v-vcluster-" + strings.Repeat("a", 10),
	}
	if diff := cmp.Diff(want, ClusterRoleNames(release, namespace)); diff != "" {
		t.Errorf("role names are cut at 63 as the templates cut them: -want, +got:\n%s", diff)
	}

	for _, name := range []string{release, namespace, ExportedSecretName(release)} {
		if wrong := validation.IsDNS1123Label(name); len(wrong) > 0 {
			t.Errorf("name %q of a valid tenant: %v", name, wrong)
		}
	}

	owner := ClusterSyncOwner(release, namespace)
	if wrong := validation.IsValidLabelValue(owner); len(wrong) > 0 || !strings.HasPrefix(owner, namespace[:41]) {
		t.Errorf("sync owner %q must be a label value that starts with the namespace: %v", owner, wrong)
	}

	if other := ClusterSyncOwner(release+"b", namespace); other == owner {
		t.Errorf("two releases share the sync owner %q", owner)
	}
}

func TestRoleNameLosesATrailingDash(t *testing.T) {
	t.Parallel()

	// 62 characters and a dash: the 63rd is cut off again by the templates.
	name := strings.Repeat("a", 62)
	if got := chartName(name + "-b"); got != name {
		t.Errorf("chartName: want %q, got %q", name, got)
	}
}
