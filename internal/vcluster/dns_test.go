// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"encoding/json"
	"testing"
)

func TestRunsDNS(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		values string
		want   bool
	}{
		"Nothing":   {"the chart's default", `null`, true},
		"Provider":  {"other values say nothing of it", `{"controlPlane": {"statefulSet": {"replicas": 1}}}`, true},
		"On":        {"it is asked for", `{"controlPlane": {"coredns": {"enabled": true, "embedded": false, "overwriteManifests": ""}}}`, true},
		"Off":       {"it is turned off", `{"controlPlane": {"coredns": {"enabled": false}}}`, false},
		"Embedded":  {"it is part of the control plane", `{"controlPlane": {"coredns": {"embedded": true}}}`, false},
		"Manifests": {"what other manifests make cannot be known", `{"controlPlane": {"coredns": {"overwriteManifests": "kind: DaemonSet"}}}`, false},
		"Rubbish":   {"what cannot be read turns nothing off", `{"controlPlane": {"coredns": "no"}}`, true},
	}
	for name, tc := range cases {
		var values map[string]any
		if err := json.Unmarshal([]byte(tc.values), &values); err != nil {
			t.Fatal(err)
		}

		if got := RunsDNS(values); got != tc.want {
			t.Errorf("%s: %s: got %t", name, tc.reason, got)
		}
	}
}
