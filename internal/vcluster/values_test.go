// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// aliceSpec is the Tenant of the documentation on one chart.
func aliceSpec(chart string) Spec {
	return Spec{
		ChartVersion: chart,
		TenantName:   "alice-default",
		CloudSpaceID: "7e9d3a1b-0000-4000-8000-000000000002",
		Environment:  "production",
	}
}

func mustValues(t *testing.T, s Spec) map[string]any {
	t.Helper()

	values, err := Values(s)
	if err != nil {
		t.Fatalf("Values(%+v): %v", s, err)
	}

	return values
}

// TestValuesOfAlice holds every value that the provider sets, so that none is added or lost unseen.
func TestValuesOfAlice(t *testing.T) {
	t.Parallel()

	const common = `
		"sync": {"toHost": {"ingresses": {"enabled": true}, "serviceAccounts": {"enabled": true}}},
		"telemetry": {"enabled": false}, "experimental": {"syncSettings": {"setOwner": false}}, SNAPSHOTS
		"controlPlane": {
			"proxy": {"extraSANs": [
				"vc-alice-default.vcluster-alice-default.svc",
				"vc-alice-default.vcluster-alice-default.svc.cluster.local"]},
			"statefulSet": {
				"image": {"repository": "loft-sh/vcluster-oss"},
				"labels": LABELS, "pods": {"labels": LABELS},
				"persistence": {"volumeClaim": {"size": "5Gi"}},
				PROBES
				"resources": {"limits": {"cpu": "2", "memory": "4Gi"}, "requests": {"cpu": "500m", "memory": "1Gi"}}},
			"distro": {"DISTRO": {ARGS "enabled": true, "resources": {"limits": {"cpu": "1"}}}}}`

	const labels = `{"kubeopera.io/environment": "production", "kubeopera.io/tenant-name": "alice-default",
		"kubeopera.io/tenant-id": "7e9d3a1b-0000-4000-8000-000000000002"}`

	const probes = `"probes": {
		"startupProbe": {"periodSeconds": 1, "failureThreshold": 1800},
		"readinessProbe": {"periodSeconds": 1, "failureThreshold": 120}},`

	const snapshots = `"rbac": {"enableVolumeSnapshotRules": {"enabled": false}},`

	args := map[string]string{"k8s": `"controllerManager": {"extraArgs": ["--kube-api-qps=200", "--kube-api-burst=400"]},`}

	cases := map[string]struct {
		reason string
		chart  string
		distro string
		probes string
		// snapshots are what grants them.
		snapshots string
	}{
		"0.20.4": {"k3s, probes have no times", "0.20.4", "k3s", "", ""},
		"0.21.2": {"k3s, probes have no times", "0.21.2", "k3s", "", ""},
		"0.29.0": {"first schema with the times is 0.30's", "0.29.0", "k3s", "", ""},
		"0.30.4": {"k3s, probes have times, snapshots are not granted", "0.30.4", "k3s", probes, snapshots},
		"0.32.0": {"last with k3s", "0.32.0", "k3s", probes, snapshots},
		"0.33.4": {"k8s from here on", "0.33.4", "k8s", probes, snapshots},
		"0.35.3": {"last that grants snapshots by itself", "0.35.3", "k8s", probes, snapshots},
		"0.36.1": {"the newest", "0.36.1", "k8s", probes, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			want := "{" + strings.NewReplacer("LABELS", labels, "PROBES", tc.probes, "SNAPSHOTS", tc.snapshots, "DISTRO", tc.distro, "ARGS", args[tc.distro]).Replace(common) + "}"
			got := mustValues(t, aliceSpec(tc.chart))

			if diff := cmp.Diff(fromJSON(t, want), roundTrip(t, got)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestValuesByField(t *testing.T) {
	t.Parallel()

	const managerArgs = "controlPlane.distro.k8s.controllerManager.extraArgs"

	cases := map[string]struct {
		reason string
		chart  string
		change func(*Spec)
		path   string
		want   any
	}{
		"k8s on an old chart": {
			"k8s works on each chart", "0.21.2", func(s *Spec) { s.Distro = v1alpha1.DistroK8s },
			"controlPlane.distro", map[string]any{"k8s": map[string]any{
				"enabled": true, "resources": map[string]any{"limits": map[string]any{"cpu": "1"}},
				"controllerManager": map[string]any{"extraArgs": []any{"--kube-api-qps=200", "--kube-api-burst=400"}},
			}},
		},
		"k8s version": {
			"taken with or without v", "0.36.1", func(s *Spec) { s.KubernetesVersion = "1.35.2" },
			"controlPlane.distro.k8s.version", "v1.35.2",
		},
		"k3s version": {
			"k3s has only its image's tag", "0.21.2", func(s *Spec) { s.KubernetesVersion = "v1.31.4" },
			"controlPlane.distro.k3s.image.tag", "v1.31.4-k3s1",
		},
		"k3s build": {
			"a build other than the first", "0.21.2", func(s *Spec) { s.KubernetesVersion = "1.31.4+k3s2" },
			"controlPlane.distro.k3s.image.tag", "v1.31.4-k3s2",
		},
		"registry": {
			"the chart adds the slash", "0.36.1", func(s *Spec) { s.ImageRegistry = "registry.example.com:5000/mirror/" },
			"controlPlane.advanced.defaultImageRegistry", "registry.example.com:5000/mirror",
		},
		"no registry": {
			"the images' own registries", "0.36.1", func(*Spec) {},
			"controlPlane.advanced", nil,
		},
		"no environment": {
			"no empty label", "0.36.1", func(s *Spec) { s.Environment = "" },
			"controlPlane.statefulSet.pods.labels", map[string]any{
				v1alpha1.LabelTenantName: "alice-default", v1alpha1.LabelTenantID: "7e9d3a1b-0000-4000-8000-000000000002",
			},
		},
		"override wins": {
			"over the provider's own", "0.36.1",
			override("controlPlane.statefulSet.image.repository", "loft-sh/vcluster-pro"),
			"controlPlane.statefulSet.image.repository", "loft-sh/vcluster-pro",
		},
		"null takes back": {
			"the chart's default applies", "0.36.1", override("controlPlane.statefulSet.probes", nil),
			"controlPlane.statefulSet.probes", nil,
		},
		"more SANs": {
			"the provider's own stay", "0.36.1",
			override("controlPlane.proxy.extraSANs", []any{"alice.example.com", "vc-alice-default.vcluster-alice-default.svc"}),
			"controlPlane.proxy.extraSANs", []any{
				"alice.example.com", "vc-alice-default.vcluster-alice-default.svc",
				"vc-alice-default.vcluster-alice-default.svc.cluster.local",
			},
		},
		"more arguments": {
			"the provider's own stay in front", "0.36.1", override(managerArgs, []any{"--v=4"}),
			managerArgs, []any{"--kube-api-qps=200", "--kube-api-burst=400", "--v=4"},
		},
		"same arguments": {
			"a flag of the override stays as it is", "0.36.1", override(managerArgs, []any{"--v=4", "--kube-api-qps=50"}),
			managerArgs, []any{"--kube-api-burst=400", "--v=4", "--kube-api-qps=50"},
		},
		"split argument": {
			"a flag whose value follows it", "0.36.1", override(managerArgs, []any{"--kube-api-burst", "80", "--kube-api-qps", "50"}),
			managerArgs, []any{"--kube-api-burst", "80", "--kube-api-qps", "50"},
		},
		"longer flag": {
			"another flag that begins alike", "0.36.1", override(managerArgs, []any{"--kube-api-qps-x=1"}),
			managerArgs, []any{"--kube-api-qps=200", "--kube-api-burst=400", "--kube-api-qps-x=1"},
		},
		"no arguments": {
			"null still deletes", "0.36.1", override(managerArgs, nil),
			managerArgs, nil,
		},
		"arguments of k3s": {
			"k3s has no such field", "0.21.2", func(*Spec) {},
			"controlPlane.distro.k3s.controllerManager", nil,
		},
		"no SANs": {
			"null takes away no name of our own", "0.36.1", override("controlPlane.proxy.extraSANs", nil),
			"controlPlane.proxy.extraSANs", []any{"vc-alice-default.vcluster-alice-default.svc", "vc-alice-default.vcluster-alice-default.svc.cluster.local"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := aliceSpec(tc.chart)
			tc.change(&s)

			got := at(mustValues(t, s), strings.Split(tc.path, ".")...)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: %s: -want, +got:\n%s", tc.reason, tc.path, diff)
			}
		})
	}
}

func TestValuesRefuse(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		chart  string
		change func(*Spec)
		words  []string
	}{
		"no tenant":         {"names need it", "0.36.1", func(s *Spec) { s.TenantName = "" }, []string{"tenantName"}},
		"no cloud space":    {"labels need it", "0.36.1", func(s *Spec) { s.CloudSpaceID = "" }, []string{"cloudSpaceID"}},
		"bad environment":   {"it is a label", "0.36.1", func(s *Spec) { s.Environment = "blue green" }, []string{"ENVIRONMENT", `"blue green"`}},
		"bad cloud space":   {"it is a label", "0.36.1", func(s *Spec) { s.CloudSpaceID = "-a" }, []string{"cloudSpaceID", `"-a"`}},
		"k3s on 0.33":       {"gone from there on", "0.33.0", func(s *Spec) { s.Distro = v1alpha1.DistroK3s }, []string{`"k3s"`, "0.33.0", "0.32", "vcluster.distro"}},
		"unknown distro":    {"never known", "0.21.2", func(s *Spec) { s.Distro = "k0s" }, []string{`"k0s"`, "vcluster.distro"}},
		"part of a version": {"no image has such a tag", "0.36.1", func(s *Spec) { s.KubernetesVersion = "1.35" }, []string{`"1.35"`, "vcluster.kubernetesVersion"}},
		"k3s build on k8s":  {"no image has such a tag", "0.36.1", func(s *Spec) { s.KubernetesVersion = "1.35.1-k3s1" }, []string{"vcluster.kubernetesVersion", "k8s"}},
		"rubbish version":   {"it ends in an image name", "0.21.2", func(s *Spec) { s.KubernetesVersion = "1.31.4-k3s1\nx: y" }, []string{"vcluster.kubernetesVersion", "k3s"}},
		"registry URL":      {"the chart takes a prefix", "0.36.1", func(s *Spec) { s.ImageRegistry = "https://registry.example.com" }, []string{"image registry", "without a scheme"}},
		"second distro": {
			"the chart refuses it without the way out", "0.21.2", override("controlPlane.distro.k8s.enabled", true),
			[]string{"k3s and k8s", "vcluster.distro"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := aliceSpec(tc.chart)
			tc.change(&s)

			got, err := Values(s)
			if err == nil {
				t.Fatalf("%s: want an error, got %v", tc.reason, got)
			}

			wantWords(t, err, tc.words...)
		})
	}
}

func TestValuesRefuseUnsupportedChart(t *testing.T) {
	t.Parallel()

	if _, err := Values(aliceSpec("0.19.7")); !errors.Is(err, ErrUnsupportedChartVersion) {
		t.Errorf("want %v, got %v", ErrUnsupportedChartVersion, err)
	}
}

// TestValuesArePure finds a result that shares memory with the Spec, or that differs from run to run.
func TestValuesArePure(t *testing.T) {
	t.Parallel()

	const overrides = `{"controlPlane":{"proxy":{"extraSANs":["a.example.com"]},"statefulSet":{"probes":null,
		"pods":{"labels":{"team":"blue"}}},"coredns":{"deployment":{"tolerations":[{"key":"x"}]}}}}`

	for _, chart := range []string{"0.20.4", "0.36.1"} {
		s := aliceSpec(chart)
		s.Overrides, s.Allowed = fromJSON(t, overrides), []string{AllowAll}

		first := mustValues(t, s)
		for range 50 {
			if diff := cmp.Diff(first, mustValues(t, s)); diff != "" {
				t.Fatalf("chart %s: equal inputs, unequal values:\n%s", chart, diff)
			}
		}

		scribble(first)

		if diff := cmp.Diff(fromJSON(t, overrides), s.Overrides); diff != "" {
			t.Errorf("chart %s: overrides changed with the values:\n%s", chart, diff)
		}

		second := mustValues(t, aliceSpec(chart))
		if at(second, "telemetry", "enabled") != false {
			t.Errorf("chart %s: a change of one result reached the next", chart)
		}
	}
}

// scribble changes everything that can be changed in place.
func scribble(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			scribble(below)
			v[key] = "scribbled"
		}
	case []any:
		for i, below := range v {
			scribble(below)
			v[i] = "scribbled"
		}
	}
}

func FuzzValues(f *testing.F) {
	f.Add("0.21.2", "", "", "", `{}`)
	f.Add("0.36.1", "k8s", "1.35.1", "registry.example.com/mirror", `{"controlPlane":null,"telemetry":[]}`)
	f.Add("0.30.4", "k3s", "1.31.4+k3s1", "", `{"controlPlane":{"proxy":{"extraSANs":[{},1,null]},"distro":7}}`)
	f.Add("", "k3s", "x", ":", `{"controlPlane":{"distro":{"k3s":{"enabled":true},"k8s":{"enabled":true}}}}`)
	f.Fuzz(func(t *testing.T, chart, distro, kubernetes, registry, overrides string) {
		s := aliceSpec(chart)
		s.Distro, s.KubernetesVersion, s.ImageRegistry = v1alpha1.Distro(distro), kubernetes, registry

		if json.Unmarshal([]byte(overrides), &s.Overrides) != nil {
			return
		}

		before := copyMap(s.Overrides)
		first, errFirst := Values(s)
		second, errSecond := Values(s)

		if diff := cmp.Diff(first, second); diff != "" || (errFirst == nil) != (errSecond == nil) {
			t.Errorf("equal inputs, unequal values: %v, %v\n%s", errFirst, errSecond, diff)
		}

		if s.Overrides != nil {
			if diff := cmp.Diff(before, s.Overrides); diff != "" {
				t.Errorf("overrides were changed:\n%s", diff)
			}
		}

		if errFirst != nil {
			return
		}

		r := Release{ChartVersion: chart, Values: first}
		if err := Refused(r, r); err != nil {
			t.Errorf("a release refuses itself: %v", err)
		}
	})
}

// override sets one value by its path.
func override(path string, value any) func(*Spec) {
	return func(s *Spec) { s.Overrides, s.Allowed = nested(path, value), []string{AllowAll} }
}

// nested is a value at the end of a path.
func nested(path string, value any) map[string]any {
	keys := strings.Split(path, ".")
	for i := len(keys) - 1; i > 0; i-- {
		value = map[string]any{keys[i]: value}
	}

	return map[string]any{keys[0]: value}
}

// roundTrip turns values into what JSON makes of them.
func roundTrip(t *testing.T, values map[string]any) map[string]any {
	t.Helper()

	b, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}

	return fromJSON(t, string(b))
}
