// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"strings"

	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// Spec is what the values of the Flux in one virtual cluster depend on.
type Spec struct {
	// ImageRegistry is the registry, with an optional path, that holds Flux's
	// images as fluxcd/NAME. Empty means the chart's own registry.
	ImageRegistry string
	// Overrides are values that win over the provider's own, by vcluster.Merge.
	Overrides map[string]any
}

// The controllers that run, and those that do not unless an override creates them.
var (
	on  = []string{"sourceController", "kustomizeController", "helmController", "notificationController"}
	off = []string{"imageAutomationController", "imageReflectionController"}
)

// images are the names of the images, by the key of the chart that sets them.
var images = map[string]string{
	"cli":                       "flux-cli",
	"helmController":            "helm-controller",
	"imageAutomationController": "image-automation-controller",
	"imageReflectionController": "image-reflector-controller",
	"kustomizeController":       "kustomize-controller",
	"notificationController":    "notification-controller",
	"sourceController":          "source-controller",
	"sourceWatcher":             "source-watcher",
}

// Values are the values of the flux2 chart. They are equal for equal inputs and
// share nothing with s.
func Values(s Spec) map[string]any {
	own := map[string]any{}

	for _, c := range on {
		own[c] = map[string]any{"create": true, "resources": map[string]any{
			"requests": map[string]any{"cpu": "25m", "memory": "64Mi"},
			"limits":   map[string]any{"cpu": "500m", "memory": "512Mi"},
		}}
	}

	for _, c := range off {
		own[c] = map[string]any{"create": false}
	}

	if registry := strings.TrimRight(s.ImageRegistry, "/"); registry != "" {
		for key, name := range images {
			own = vcluster.Merge(own, map[string]any{key: map[string]any{"image": registry + "/fluxcd/" + name}})
		}
	}

	return vcluster.Merge(own, s.Overrides)
}
