// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubeopera/provider-kubeopera/internal/vcluster/vclustertest"
)

// named lists objects as kind/name.
func named(objs []*unstructured.Unstructured) []string {
	var out []string
	for _, o := range objs {
		out = append(out, o.GetKind()+"/"+o.GetName())
	}
	return out
}

func withKubeVersion(constraint string) chartOption {
	return func(c *chart.Chart) { c.Metadata.KubeVersion = constraint }
}

func TestRender(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		chart  []chartOption
		values map[string]any
		want   []string
	}{
		"Nothing": {reason: "a chart without templates makes nothing"},
		"Release": {
			reason: "templates see the release, as a first install",
			chart: []chartOption{withTemplate("a.yaml",
				`{apiVersion: v1, kind: "{{ .Release.Revision }}-{{ .Release.IsInstall }}", metadata: {name: "{{ .Release.Name }}.{{ .Release.Namespace }}"}}`)},
			want: []string{"1-true/flux.flux-system"},
		},
		"Values": {
			reason: "values lie over the chart's defaults, and are numbers as an install has them",
			chart: []chartOption{withDefaults(map[string]any{"a": "x", "b": "y"}),
				withTemplate("a.yaml", `{apiVersion: v1, kind: {{ .Values.a }}, metadata: {name: "{{ .Values.b }}{{ .Values.n | typeOf }}"}}`)},
			values: map[string]any{"b": "z", "n": 7}, want: []string{"x/zfloat64"},
		},
		"NoHooks": {
			reason: "hooks are no part of a release, and its CRD folder is not either",
			chart: []chartOption{withCRD("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\n"),
				withTemplate("h.yaml", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n"),
				withTemplate("a.yaml", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: job}\n")},
			want: []string{"Job/job"},
		},
		"NoCluster": {
			reason: "nothing can be looked up",
			chart:  []chartOption{withTemplate("a.yaml", `{apiVersion: v1, kind: Found, metadata: {name: "{{ len (lookup "v1" "Namespace" "" "") }}"}}`)},
			want:   []string{"Found/0"},
		},
		"Kubernetes": {
			reason: "the cluster is a current one, whatever the chart asks for",
			chart: []chartOption{withKubeVersion("<1.10"),
				withTemplate("a.yaml", `{apiVersion: v1, kind: "{{ .Capabilities.KubeVersion.Minor }}", metadata: {name: "{{ .Capabilities.APIVersions.Has "apps/v1" }}"}}`)},
			want: []string{"36/true"},
		},
		"Subchart": {
			reason: "subcharts are switched as in an install",
			chart: []chartOption{
				withSubchart("on.enabled", helmChart("on", "0.1.0", withTemplate("a.yaml", "{apiVersion: v1, kind: Sub, metadata: {name: first}}"))),
				withSubchart("off.enabled", helmChart("off", "0.1.0", withTemplate("a.yaml", "{apiVersion: v1, kind: Sub, metadata: {name: second}}"))),
			},
			values: map[string]any{"off": map[string]any{"enabled": false}}, want: []string{"Sub/first"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newChart(t, "1.0.0", tc.chart...)
			// Twice, since Helm changes what it is given.
			for range 2 {
				got, err := c.Render("flux", "flux-system", tc.values)
				if err != nil {
					t.Fatalf("%s: %v", tc.reason, err)
				}
				if diff := cmp.Diff(tc.want, named(got)); diff != "" {
					t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
				}
			}
		})
	}
}

func TestRenderWithoutSurge(t *testing.T) {
	t.Parallel()
	c := newChart(t, "1.0.0", withTemplate("a.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec: {}\n"))
	for want, opts := range map[string][]Option{"": {SkipHooks()}, "RollingUpdate": {WithoutSurge()}} {
		objs, err := c.Render("flux", "flux-system", nil, opts...)
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := unstructured.NestedString(objs[0].Object, "spec", "strategy", "type")
		if err != nil || got != want {
			t.Errorf("got strategy %q, %v, want %q", got, err, want)
		}
	}
}

func TestRenderRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		chart  chartOption
		values map[string]any
		want   error
		says   string
	}{
		"Schema":  {reason: "what the schema refuses", chart: withSchema(testSchema), values: map[string]any{"mode": "z"}, want: ErrValuesRefused, says: "mode"},
		"Fails":   {reason: "a template that fails says why, on one line", chart: withTemplate("a.yaml", `{{ fail "no\nluck" }}`), says: "no luck"},
		"NotYAML": {reason: "what a template makes may be no YAML", chart: withTemplate("a.yaml", "a: b: c"), says: `chart "app" 1.0.0`},
		"NotJSON": {reason: "values that cannot be stored", chart: withDefaults(nil), values: map[string]any{"f": func() {}}, want: ErrValuesRefused},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newChart(t, "1.0.0", tc.chart).Render("flux", "flux-system", tc.values)
			if err == nil || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: got %v", tc.reason, err)
			}
			if tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("%s: got %v, want %v", tc.reason, err, tc.want)
			}
		})
	}
}

// TestRenderVCluster renders a real chart.
func TestRenderVCluster(t *testing.T) {
	t.Parallel()
	hc, err := loader.LoadDir(filepath.Join(vclustertest.ModuleDir(t, "0.36.1"), "chart"))
	if err != nil {
		t.Fatal(err)
	}
	hc.Metadata.Version = "0.36.1"
	c, err := LoadChart(archive(t, hc))
	if err != nil {
		t.Fatal(err)
	}
	objs, err := c.Render("vc-alice", "vcluster-alice", map[string]any{"telemetry": map[string]any{"enabled": false}})
	if err != nil {
		t.Fatal(err)
	}
	got := named(objs)
	for _, want := range []string{"StatefulSet/vc-alice", "Service/vc-alice", "ServiceAccount/vc-vc-alice"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %v", want, got)
		}
	}
}
