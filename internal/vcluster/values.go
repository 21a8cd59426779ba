// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const (
	// ImageRepository is the open-source build of vCluster, without its registry.
	ImageRepository = "loft-sh/vcluster-oss"
	// defaultVolumeSize is the chart's default size of the control plane's volume. It is written out,
	// because a default that changed with the chart would change a volume that cannot be changed.
	defaultVolumeSize = "5Gi"
)

// The probes ask every second. The thresholds keep the time that the chart's defaults allow in all: 300
// times 6 s to start, 60 times 2 s to become ready again.
const (
	probePeriod        = int64(1)
	startupThreshold   = int64(1800)
	readinessThreshold = int64(120)
)

// initCPULimit is the CPU limit of the init container that copies Kubernetes into place; the chart's 100m
// make it the slowest part of a start.
const initCPULimit = "1"

// Spec is what the values of one virtual cluster depend on.
type Spec struct {
	// ChartVersion is the exact version of the vCluster chart.
	ChartVersion string
	// TenantName is the Tenant's tenantName.
	TenantName string
	// CloudSpaceID is the Tenant's cloudSpaceID.
	CloudSpaceID string
	// Environment is the platform's environment. Empty makes no label.
	Environment string
	// Distro is the Kubernetes distribution. Empty means k3s as long as the chart offers it, then k8s.
	Distro v1alpha1.Distro
	// KubernetesVersion is a full Kubernetes version such as 1.31.4. Empty means the chart's default.
	KubernetesVersion string
	// ImageRegistry is the registry, with an optional path, that holds every image that vCluster needs.
	// Empty means the images' own registries.
	ImageRegistry string
	// Overrides are values that win over the provider's own; Merge says how.
	Overrides map[string]any
	// Allowed are the paths that Overrides may change, each with all below it. Nil means those that weaken no
	// isolation, AllowAll everything.
	Allowed []string
}

// Values are the Helm values of the virtual cluster that s describes. They are equal for equal inputs and
// share nothing with s. An error names the field of the Tenant that has to change; it is an
// ErrOverrideNotAllowed, with the paths, where Overrides change more than Allowed.
func Values(s Spec) (map[string]any, error) {
	version, err := ParseChartVersion(s.ChartVersion)
	if err != nil {
		return nil, err
	}

	control, err := controlPlane(version, s)
	if err != nil {
		return nil, err
	}

	own := map[string]any{
		"controlPlane": control,
		"sync": map[string]any{"toHost": map[string]any{
			"ingresses":       map[string]any{"enabled": true},
			"serviceAccounts": map[string]any{"enabled": true},
		}},
		"telemetry": map[string]any{"enabled": false},
		// All that vCluster syncs would be the Service's otherwise, and go with it when someone deletes
		// that: pods, ServiceAccounts and Secrets, and with them their originals inside. The namespace
		// goes as a whole.
		"experimental": map[string]any{"syncSettings": map[string]any{"setOwner": false}},
	}
	if version.grantsSnapshots() {
		// No vCluster needs them to run, and with them it could reach the volumes of others.
		own["rbac"] = map[string]any{"enableVolumeSnapshotRules": map[string]any{"enabled": false}}
	}

	values := Merge(own, s.Overrides)
	if err := checkOneDistro(values); err != nil {
		return nil, err
	}

	if err := checkAllowed(own, values, s.Allowed); err != nil {
		return nil, err
	}

	keepOwnSANs(values, s.TenantName)
	keepOwnArgs(values)

	return values, nil
}

func controlPlane(version ChartVersion, s Spec) (map[string]any, error) {
	distro, err := distroValues(version, s)
	if err != nil {
		return nil, err
	}

	workload, err := statefulSet(version, s)
	if err != nil {
		return nil, err
	}

	out := map[string]any{
		"distro":      distro,
		"proxy":       map[string]any{"extraSANs": ownSANs(s.TenantName)},
		"statefulSet": workload,
	}

	registry, err := imageRegistry(s.ImageRegistry)
	if err != nil {
		return nil, err
	}

	if registry != "" {
		out["advanced"] = map[string]any{"defaultImageRegistry": registry}
	}

	return out, nil
}

// statefulSet are the values of the control plane's workload. The chart keeps them under this name when
// it makes a Deployment, too.
func statefulSet(version ChartVersion, s Spec) (map[string]any, error) {
	labels, err := ownLabels(s)
	if err != nil {
		return nil, err
	}

	out := map[string]any{
		"image":       map[string]any{"repository": ImageRepository},
		"labels":      labels,
		"persistence": map[string]any{"volumeClaim": map[string]any{"size": defaultVolumeSize}},
		"pods":        map[string]any{"labels": copyMap(labels)},
		"resources": map[string]any{
			"limits":   map[string]any{"cpu": "2", "memory": "4Gi"},
			"requests": map[string]any{"cpu": "500m", "memory": "1Gi"},
		},
	}
	if version.hasProbeTimes() {
		out["probes"] = map[string]any{
			"readinessProbe": probe(readinessThreshold),
			"startupProbe":   probe(startupThreshold),
		}
	}

	return out, nil
}

func probe(threshold int64) map[string]any {
	return map[string]any{"failureThreshold": threshold, "periodSeconds": probePeriod}
}

// ownLabels tell on the host whose control plane it is.
func ownLabels(s Spec) (map[string]any, error) {
	if s.TenantName == "" || s.CloudSpaceID == "" {
		return nil, fmt.Errorf("cannot name the virtual cluster: tenantName %q and cloudSpaceID %q must both be set",
			s.TenantName, s.CloudSpaceID)
	}

	fields := []struct{ field, label, value string }{
		{"tenantName", v1alpha1.LabelTenantName, s.TenantName},
		{"cloudSpaceID", v1alpha1.LabelTenantID, s.CloudSpaceID},
		{"the provider's ENVIRONMENT", v1alpha1.LabelEnvironment, s.Environment},
	}

	labels := make(map[string]any, len(fields))

	for _, f := range fields {
		if wrong := validation.IsValidLabelValue(f.value); len(wrong) > 0 {
			return nil, fmt.Errorf("cannot use %s %q as the label %s: %s", f.field, f.value, f.label, strings.Join(wrong, "; "))
		}

		if f.value != "" {
			labels[f.label] = f.value
		}
	}

	return labels, nil
}

// imageRegistry checks a registry prefix. The chart joins it to a repository with a slash of its own.
func imageRegistry(s string) (string, error) {
	registry := strings.TrimRight(s, "/")
	if registry == "" {
		return "", nil
	}

	_, err := name.NewRepository(registry + "/" + ImageRepository)
	if err != nil || strings.Contains(registry, "//") {
		return "", fmt.Errorf("cannot use %q as the image registry: it must be a host with an optional path, "+
			"such as registry.example.com/mirror, without a scheme", s)
	}

	return registry, nil
}

// ownSANs are the names under which the control plane is reached inside the host cluster and which
// vCluster does not put into its certificate by itself.
func ownSANs(tenantName string) []any {
	host := ServiceHost(ReleaseName(tenantName), HostNamespace(tenantName))

	return []any{host, host + ".cluster.local"}
}

// keepOwnSANs adds ownSANs to a list of names that came from an override. A list replaces a list, so that
// asking for one more name would otherwise break the published kubeconfig.
func keepOwnSANs(values map[string]any, tenantName string) {
	proxy, ok := at(values, "controlPlane", "proxy").(map[string]any)
	if !ok {
		return
	}

	sans, ok := proxy["extraSANs"].([]any)
	if !ok && proxy["extraSANs"] != nil {
		return
	}

	for _, san := range ownSANs(tenantName) {
		if !slices.Contains(sans, san) {
			sans = append(sans, san)
		}
	}

	proxy["extraSANs"] = sans
}
