// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisor

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/quantity"
)

// FuzzDeployment holds that settings of any shape make a Deployment of one container, the same each time, which
// never asks for more than it is limited to by a default.
func FuzzDeployment(f *testing.F) {
	for _, s := range []string{
		`{}`, `null`, `{"image":"x y","replicas":-1}`, `{"resources":{"limits":{"cpu":"1m"},"requests":{"memory":"1Ti"}}}`,
		`{"resources":{"limits":{"cpu":"-1"}}}`, `{"env":[{"name":"","valueFrom":{}},{}]}`, `{"resources":{"requests":null}}`,
	} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, settings string) {
		var (
			raw any
			s   v1alpha1.AdvisorSettings
		)
		// The schema refuses quantities that nobody can compute with.
		if json.Unmarshal([]byte(settings), &raw) != nil || quantity.Check(raw, &s) != nil || json.Unmarshal([]byte(settings), &s) != nil {
			return
		}

		d := Deployment(s)

		first, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}

		if second, err := json.Marshal(Deployment(s)); err != nil || string(first) != string(second) {
			t.Errorf("once %s, once %s", first, second)
		}

		c := d.Spec.Template.Spec.Containers
		if len(c) != 1 || len(c[0].Env) != len(s.Env) {
			t.Fatalf("it has %d containers", len(c))
		}

		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			request, limit := c[0].Resources.Requests[name], c[0].Resources.Limits[name]

			asked := s.Resources != nil && len(s.Resources.Requests) > 0 && len(s.Resources.Limits) > 0
			if request.Cmp(limit) > 0 && !asked {
				t.Errorf("it requests %s of %s and is limited to %s", request.String(), name, limit.String())
			}
		}
	})
}
