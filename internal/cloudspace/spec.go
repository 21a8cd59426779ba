// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cloudspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/quantity"
)

// Spec is what a team asks for. Both kinds of CloudSpace have these fields.
type Spec struct {
	// SpaceName is empty where none is given: see Name.
	SpaceName string
	UserID    string
	// CPU in cores, Memory and Storage in bytes. The first two are never nil once
	// they are decoded.
	CPU      *resource.Quantity
	Memory   *resource.Quantity
	Storage  *resource.Quantity
	Pods     *int32
	Advisor  *v1alpha1.AdvisorSpec
	Flux     *Flux
	VCluster *VCluster
}

// Flux is what a team may say of Flux. The chart's values are not among it: they
// reach as far as the provider's rights.
type Flux struct {
	Enabled      *bool   `json:"enabled,omitempty"`
	ChartVersion *string `json:"chartVersion,omitempty"`
}

// VCluster is what a team may say of the vCluster, without the chart's values for
// the same reason.
type VCluster struct {
	ChartVersion      *string `json:"chartVersion,omitempty"`
	KubernetesVersion *string `json:"kubernetesVersion,omitempty"`
}

// fields are those of the spec by the names that the schemas have for them.
func (s *Spec) fields() map[string]any {
	return map[string]any{
		"spaceName": &s.SpaceName,
		"userID":    &s.UserID,
		"cpu":       &s.CPU,
		"memory":    &s.Memory,
		"storage":   &s.Storage,
		"pods":      &s.Pods,
		"advisor":   &s.Advisor,
		"flux":      &s.Flux,
		"vcluster":  &s.VCluster,
	}
}

// Name of the space: what is given, or else space- and the first eight characters
// of the user's id.
func (s *Spec) Name() string {
	if s.SpaceName != "" {
		return s.SpaceName
	}

	const first = 8

	return "space-" + s.UserID[:min(first, len(s.UserID))]
}

// decode reads the spec of an XR of that API. What Crossplane itself keeps there is
// not ours and is passed over. Each error names a field.
func decode(in map[string]any, apiVersion string) (Spec, error) {
	var (
		s    Spec
		errs []error
	)

	fields := s.fields()
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		v, ok := in[name]
		if !ok {
			continue
		}

		if err := convert(v, fields[name]); err != nil {
			errs = append(errs, fmt.Errorf("spec.%s: %w", name, wrongType(apiVersion, name, v, err)))
		}
	}

	s.setDefaults()

	return s, errors.Join(errs...)
}

// setDefaults does what the schemas do, for an XR that no API server has seen.
func (s *Spec) setDefaults() {
	if s.CPU == nil {
		s.CPU = ptr.To(resource.MustParse("2"))
	}

	if s.Memory == nil {
		s.Memory = ptr.To(resource.MustParse("4Gi"))
	}
}

// wrongType says what the field must be. Those that are quantities have no word
// of their own for it.
func wrongType(apiVersion, name string, v any, err error) error {
	if b, ok := amounts[name]; ok {
		return fmt.Errorf("%v must be %s", quoted(v), b.want)
	}

	return fmt.Errorf("%w; %s says what it may be", err, explain(apiVersion, "spec."+name))
}

// quoted is the value as people write it.
func quoted(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}

	return string(b)
}

// convert reads a value of an object without a type into one that has a type.
func convert(from, into any) error {
	if err := quantity.Check(from, into); err != nil {
		return err
	}

	b, err := json.Marshal(from)
	if err != nil {
		return err
	}

	return json.Unmarshal(b, into)
}
