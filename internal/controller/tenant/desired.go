// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"encoding/json"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/quota"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// defaults are what a Tenant gets that does not say otherwise.
type defaults struct {
	chartVersion string
	// chartVersionFrom says where chartVersion was set, for messages.
	chartVersionFrom string
	fluxChartVersion string
	advisorImage     string
	environment      string

	v1alpha1.HostDefaults
	// isolatedBy names the provider configuration that Isolation and AllowedValuesOverrides are of.
	isolatedBy string
}

// desired is a release as it should be.
type desired struct {
	chartVersion string
	// chartVersionFrom says where it was set, for messages.
	chartVersionFrom string

	values map[string]any
	// allowance is what its pods need in the host namespace, dns what those of its CoreDNS
	// need of that.
	allowance, dns quota.Allowance
}

// desire computes what the release of t's vCluster should be. An error names the
// field of the Tenant that has to change.
func desire(t *v1alpha1.Tenant, d defaults) (desired, error) {
	v := ptr.Deref(t.Spec.VCluster, v1alpha1.VClusterSpec{})

	overrides, err := overridesOf("vcluster.valuesOverrides", v.ValuesOverrides)
	if err != nil {
		return desired{}, err
	}

	asked, from := d.chartVersion, d.chartVersionFrom
	if v.ChartVersion != nil {
		asked, from = *v.ChartVersion, "vcluster.chartVersion"
	}

	version, err := vcluster.ParseChartVersion(asked)
	if err != nil {
		return desired{}, fmt.Errorf("cannot use %s: %w", from, err)
	}

	out := desired{chartVersion: version.String(), chartVersionFrom: from}

	out.values, err = vcluster.Values(vcluster.Spec{
		ChartVersion:      out.chartVersion,
		TenantName:        t.Spec.TenantName,
		CloudSpaceID:      t.Spec.CloudSpaceID,
		Environment:       d.environment,
		Distro:            ptr.Deref(v.Distro, ""),
		KubernetesVersion: ptr.Deref(v.KubernetesVersion, ""),
		ImageRegistry:     d.ImageRegistry,
		Overrides:         overrides,
		Allowed:           d.AllowedValuesOverrides,
	})
	if errors.Is(err, vcluster.ErrOverrideNotAllowed) {
		return desired{}, fmt.Errorf("cannot use vcluster.valuesOverrides: %w: take that out, or have spec.allowedValuesOverrides of %s allow it",
			err, d.isolatedBy)
	}

	if err != nil {
		return desired{}, fmt.Errorf("cannot make the values of the vCluster chart: %w", err)
	}

	out.allowance, err = quota.AllowanceFor(out.values)
	if err == nil {
		out.dns, err = quota.AllowanceForDNS(out.values)
	}

	if err != nil {
		return desired{}, fmt.Errorf("cannot use vcluster.valuesOverrides: %w", err)
	}

	return out, nil
}

func overridesOf(field string, raw *apiextensionsv1.JSON) (map[string]any, error) {
	if raw == nil || len(raw.Raw) == 0 {
		return nil, nil
	}

	var out map[string]any
	if err := json.Unmarshal(raw.Raw, &out); err != nil {
		return nil, fmt.Errorf("cannot read %s as an object: %w", field, err)
	}

	return out, nil
}
