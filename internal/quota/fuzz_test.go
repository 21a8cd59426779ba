// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/quantity"
)

// rubbish is what people have typed, and worse.
var rubbish = []string{"4", "2\"; injected: true", "-1", "0", "1e30", "4 cores", "1e-999999999", "1e99", "0.0000001", "NaN", "8Gi", "", "9223372036854775807Ki"}

// FuzzWall holds that a wall is never less than what was asked for, nor less than nothing, and that it comes
// back from the API server as it was sent: a wall that differs for ever is written for ever.
func FuzzWall(f *testing.F) {
	for i, s := range rubbish {
		f.Add(s, rubbish[(i+1)%len(rubbish)], rubbish[(i+2)%len(rubbish)], int32(i), `{"controlPlane":{"statefulSet":{"resources":{"limits":{"cpu":"-5"}}}}}`)
		f.Add(s, s, s, int32(7), `{}`)
	}

	f.Fuzz(func(t *testing.T, cpu, memory, storage string, pods int32, values string) {
		var in map[string]any
		if json.Unmarshal([]byte(values), &in) != nil || pods < 1 {
			return
		}

		a, err := AllowanceFor(in)
		if err != nil {
			return
		}

		q := v1alpha1.QuotaSpec{CPU: amount(cpu), Memory: amount(memory), Storage: amount(storage), Pods: &pods}
		wall := Wall(q, a)

		for name, asked := range TenantHard(q) {
			hard := wall.Hard[name]
			if hard.Cmp(asked) < 0 || hard.Sign() < 0 {
				t.Errorf("%s of the wall is %s, asked for were %s", name, hard.String(), asked.String())
			}
		}

		stored := corev1.ResourceQuotaSpec{}
		if raw, err := json.Marshal(wall); err != nil || json.Unmarshal(raw, &stored) != nil {
			t.Fatalf("the wall cannot be stored: %v, %s", err, raw)
		}

		shares := Shares(q, stored.Hard)

		for name, hard := range wall.Hard {
			if back := stored.Hard[name]; hard.Cmp(back) != 0 {
				t.Errorf("%s is sent as %s and comes back as %s", name, hard.String(), back.String())
			}

			if rest := shares.Platform[name]; rest.Sign() < 0 {
				t.Errorf("the platform's share of %s is %s", name, rest.String())
			}
		}
	})
}

// amount is what the schema of a Tenant lets through, or nil.
func amount(s string) *resource.Quantity {
	q, err := quantity.Parse(s)
	if err != nil || q.Sign() <= 0 || q.Cmp(resource.MustParse("1Ei")) > 0 {
		return nil
	}

	return &q
}

// FuzzAllowanceFor holds that what the platform needs is never less than nothing, whatever the values are, and
// that they are left as they are.
func FuzzAllowanceFor(f *testing.F) {
	for _, s := range rubbish {
		raw, err := json.Marshal(map[string]any{"controlPlane": map[string]any{
			"statefulSet": map[string]any{"resources": map[string]any{"limits": map[string]any{"cpu": s}, "requests": map[string]any{"memory": s}}},
			"coredns":     map[string]any{"deployment": map[string]any{"resources": map[string]any{"requests": map[string]any{"cpu": s}}}},
		}})
		if err != nil {
			f.Fatal(err)
		}

		f.Add(string(raw))
	}

	for _, s := range []string{
		`null`, `{}`, `{"controlPlane":null}`, `{"controlPlane":{"coredns":[]}}`, `{"controlPlane":{"distro":{"":{"resources":{"limits":{"cpu":-7}}}}}}`,
		`{"controlPlane":{"statefulSet":{"highAvailability":{"replicas":1e9},"persistence":{"volumeClaim":{"size":"-1Gi"}}}}}`,
		`{"controlPlane":{"backingStore":{"etcd":{"deploy":{"enabled":true,"statefulSet":{"persistence":{"volumeClaim":{"size":1e300}}}}}}}}`,
	} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, values string) {
		var in map[string]any
		if json.Unmarshal([]byte(values), &in) != nil {
			return
		}

		before, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}

		a, err := AllowanceFor(in)
		if err != nil {
			expectWords(t, err)
			return
		}

		expectNoDebt(t, a)

		if after, err := json.Marshal(in); err != nil || string(after) != string(before) {
			t.Errorf("the values were %s, and are %s", before, after)
		}
	})
}

// FuzzAllowanceOf holds the same of what a chart renders.
func FuzzAllowanceOf(f *testing.F) {
	for _, s := range rubbish {
		raw, err := json.Marshal(map[string]any{"replicas": 3, "template": map[string]any{"spec": map[string]any{
			"containers":     []any{map[string]any{"name": "c", "resources": map[string]any{"limits": map[string]any{"cpu": s}}}},
			"initContainers": []any{map[string]any{"name": "i", "restartPolicy": "Always", "resources": map[string]any{"requests": map[string]any{"memory": s}}}},
			"overhead":       map[string]any{"cpu": s},
		}}})
		if err != nil {
			f.Fatal(err)
		}

		f.Add("Deployment", string(raw))
	}

	f.Add("StatefulSet", `{"replicas":-1,"volumeClaimTemplates":[{"spec":{"resources":{"requests":{"storage":"-1Gi"}}}}]}`)
	f.Add("Deployment", `{"strategy":{"rollingUpdate":{"maxSurge":"-10%"}},"replicas":2147483647}`)
	f.Add("DaemonSet", `{"updateStrategy":{"rollingUpdate":{"maxSurge":"many"}}}`)
	f.Add("ReplicaSet", `[]`)
	f.Fuzz(func(t *testing.T, kind, spec string) {
		var in any
		if json.Unmarshal([]byte(spec), &in) != nil {
			return
		}

		a, err := AllowanceOf([]*unstructured.Unstructured{{Object: map[string]any{
			"apiVersion": "apps/v1", "kind": kind, "metadata": map[string]any{"name": "x"}, "spec": in,
		}}})
		if err != nil {
			expectWords(t, err)
			return
		}

		expectNoDebt(t, a)
	})
}

func expectNoDebt(t *testing.T, a Allowance) {
	t.Helper()

	if a.Pods < 0 || a.Storage.Sign() < 0 {
		t.Errorf("%d pods, %s of storage", a.Pods, a.Storage.String())
	}

	for _, l := range []corev1.ResourceList{a.Requests, a.Limits} {
		for name, q := range l {
			if q.Sign() < 0 {
				t.Errorf("%s of %s", q.String(), name)
			}
		}
	}
}

// expectWords holds that an error says something that can be shown in a status.
func expectWords(t *testing.T, err error) {
	t.Helper()

	if len(err.Error()) < 10 {
		t.Errorf("it says nothing: %q", err)
	}
}
