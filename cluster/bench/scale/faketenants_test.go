// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

func TestSharedPath(t *testing.T) {
	t.Parallel()

	cases := map[string]struct{ reason, path, want string }{
		"Namespace":  {"a namespace has another name", "/api/v1/namespaces/default", "/api/v1/namespaces/x-default"},
		"Namespaced": {"what is in it is there", "/apis/apps/v1/namespaces/kube-system/deployments/coredns", "/apis/apps/v1/namespaces/x-kube-system/deployments/coredns"},
		"Everywhere": {"all of a tenant's are not those of others", "/api/v1/resourcequotas", "/api/v1/namespaces/x-default/resourcequotas"},
		"Namespaces": {"those are of no namespace", "/api/v1/namespaces", "/api/v1/namespaces"},
		"Discovery":  {"what the API server says of itself is the same for all", "/apis/apps/v1", "/apis/apps/v1"},
		"Core":       {"so it is of its oldest kinds", "/api/v1", "/api/v1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := sharedPath("x", tc.path); got != tc.want {
				t.Errorf("%s: sharedPath(%q): got %q, want %q", tc.reason, tc.path, got, tc.want)
			}
		})
	}
}

func TestSharedBody(t *testing.T) {
	t.Parallel()

	const mine, shared = `{"metadata":{"name":"q","namespace":"default"}}`, `{"metadata":{"name":"q","namespace":"x-default"}}`

	if got := string(toShared("x", []byte(mine))); got != shared {
		t.Errorf("toShared: got %s, want %s", got, shared)
	}

	if got := string(fromShared("x", []byte(shared))); got != mine {
		t.Errorf("fromShared: got %s, want %s", got, mine)
	}
}
