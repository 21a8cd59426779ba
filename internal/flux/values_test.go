// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// chartImages are the images of the real chart, by their keys. Source:
// charts/flux2/values.yaml of github.com/fluxcd-community/helm-charts at flux2
// 2.18.3. Each of these keys but cli also has create and resources there.
var chartImages = map[string]string{
	"cli":                       "ghcr.io/fluxcd/flux-cli",
	"helmController":            "ghcr.io/fluxcd/helm-controller",
	"imageAutomationController": "ghcr.io/fluxcd/image-automation-controller",
	"imageReflectionController": "ghcr.io/fluxcd/image-reflector-controller",
	"kustomizeController":       "ghcr.io/fluxcd/kustomize-controller",
	"notificationController":    "ghcr.io/fluxcd/notification-controller",
	"sourceController":          "ghcr.io/fluxcd/source-controller",
	"sourceWatcher":             "ghcr.io/fluxcd/source-watcher",
}

// small are the resources of a controller.
func small() map[string]any {
	return map[string]any{
		"requests": map[string]any{"cpu": "25m", "memory": "64Mi"},
		"limits":   map[string]any{"cpu": "500m", "memory": "512Mi"},
	}
}

func TestValues(t *testing.T) {
	t.Parallel()

	defaults := func() map[string]any {
		return map[string]any{
			"sourceController":          map[string]any{"create": true, "resources": small()},
			"kustomizeController":       map[string]any{"create": true, "resources": small()},
			"helmController":            map[string]any{"create": true, "resources": small()},
			"notificationController":    map[string]any{"create": true, "resources": small()},
			"imageAutomationController": map[string]any{"create": false},
			"imageReflectionController": map[string]any{"create": false},
		}
	}
	with := func(change func(map[string]any)) map[string]any {
		out := defaults()
		change(out)

		return out
	}

	cases := map[string]struct {
		reason string
		spec   Spec
		want   map[string]any
	}{
		"Defaults": {"four small controllers, no image automation, the chart's images", Spec{}, defaults()},
		"Override": {
			"an override wins, and leaves its neighbours", Spec{Overrides: map[string]any{
				"notificationController": map[string]any{"create": false},
				"helmController":         map[string]any{"resources": map[string]any{"limits": map[string]any{"memory": "1Gi"}}},
				"logLevel":               "debug",
			}},
			with(func(v map[string]any) {
				v["notificationController"].(map[string]any)["create"] = false
				v["helmController"].(map[string]any)["resources"].(map[string]any)["limits"].(map[string]any)["memory"] = "1Gi"
				v["logLevel"] = "debug"
			}),
		},
		"Null": {
			"a null gives a value back to the chart", Spec{Overrides: map[string]any{"helmController": map[string]any{"resources": nil}}},
			with(func(v map[string]any) { delete(v["helmController"].(map[string]any), "resources") }),
		},
		"OverrideImage": {
			"an image wins over the registry", Spec{ImageRegistry: "r.example.com/", Overrides: map[string]any{"cli": map[string]any{"image": "other.example.com/cli"}}},
			with(func(v map[string]any) {
				for key, image := range chartImages {
					c, _ := v[key].(map[string]any)
					if c == nil {
						c = map[string]any{}
						v[key] = c
					}

					c["image"] = "r.example.com/" + image[len("ghcr.io/"):]
				}

				v["cli"].(map[string]any)["image"] = "other.example.com/cli"
			}),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, Values(tc.spec)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestValuesFitTheChart holds the keys against those of the real chart.
func TestValuesFitTheChart(t *testing.T) {
	t.Parallel()

	got := Values(Spec{ImageRegistry: "mirror.example.com/path"})
	if diff := cmp.Diff(slices.Sorted(maps.Keys(chartImages)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("keys: -chart, +values:\n%s", diff)
	}

	for key, image := range chartImages {
		values := got[key].(map[string]any)
		if want := "mirror.example.com/path/" + image[len("ghcr.io/"):]; values["image"] != want {
			t.Errorf("%s: image %v, want %s", key, values["image"], want)
		}

		for field := range values {
			if !slices.Contains([]string{"create", "image", "resources"}, field) || (key == "cli" && field != "image") {
				t.Errorf("the chart has no %s.%s", key, field)
			}
		}
	}
}

func TestValuesShareNothing(t *testing.T) {
	t.Parallel()

	overrides := map[string]any{"helmController": map[string]any{"labels": map[string]any{"a": "b"}}}
	first := Values(Spec{Overrides: overrides})
	first["helmController"].(map[string]any)["labels"].(map[string]any)["a"] = "changed"
	first["sourceController"].(map[string]any)["resources"].(map[string]any)["limits"].(map[string]any)["cpu"] = "changed"

	if diff := cmp.Diff(map[string]any{"helmController": map[string]any{"labels": map[string]any{"a": "b"}}}, overrides); diff != "" {
		t.Errorf("the overrides were changed: %s", diff)
	}

	second := Values(Spec{})
	if diff := cmp.Diff(small(), second["sourceController"].(map[string]any)["resources"]); diff != "" {
		t.Errorf("the next values were changed: %s", diff)
	}
}
