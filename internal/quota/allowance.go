// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Allowance is what the platform's own pods need in a host namespace, over and
// above the tenant's quota.
type Allowance struct {
	// Requests and Limits of all those pods together: CPU in cores, memory in bytes.
	Requests, Limits corev1.ResourceList
	// Storage that their volume claims request, in bytes.
	Storage resource.Quantity
	// Pods that may exist at once.
	Pods int64
}

// chartDefaults are the vCluster chart's defaults for what an allowance depends
// on. Every supported chart version has the same.
// Source: chart/values.yaml of github.com/loft-sh/vcluster v0.36.1.
var chartDefaults = vclusterValues{
	ControlPlane: controlPlane{
		CoreDNS: coreDNS{
			Enabled: true,
			Deployment: deployment{
				Replicas: 1,
				Resources: corev1.ResourceRequirements{
					Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("170Mi")},
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("20m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
				},
			},
		},
		StatefulSet: statefulSet{
			HighAvailability: highAvailability{Replicas: 1},
			Persistence:      persistence{VolumeClaim: volumeClaim{Size: resource.MustParse("5Gi")}},
		},
	},
}

// The part of the vCluster chart's values that an allowance depends on.
type (
	vclusterValues struct {
		ControlPlane controlPlane `json:"controlPlane"`
	}
	controlPlane struct {
		CoreDNS     coreDNS     `json:"coredns"`
		StatefulSet statefulSet `json:"statefulSet"`
	}
	coreDNS struct {
		Enabled    bool       `json:"enabled"`
		Deployment deployment `json:"deployment"`
	}
	deployment struct {
		Replicas  int64                       `json:"replicas"`
		Resources corev1.ResourceRequirements `json:"resources"`
	}
	statefulSet struct {
		HighAvailability highAvailability            `json:"highAvailability"`
		Persistence      persistence                 `json:"persistence"`
		Resources        corev1.ResourceRequirements `json:"resources"`
	}
	highAvailability struct {
		Replicas int64 `json:"replicas"`
	}
	persistence struct {
		VolumeClaim volumeClaim `json:"volumeClaim"`
	}
	volumeClaim struct {
		Size resource.Quantity `json:"size"`
	}
)

// AllowanceFor is the allowance for a vCluster that is installed with these
// values: its control plane and its CoreDNS. It errs when the values have the
// wrong types, naming the field.
func AllowanceFor(values map[string]any) (Allowance, error) {
	raw, err := json.Marshal(values)
	if err != nil {
		return Allowance{}, fmt.Errorf("cannot read the vCluster values: %w", err)
	}

	var v vclusterValues
	if err := deepCopy(chartDefaults, &v); err != nil {
		return Allowance{}, err
	}

	if err := json.Unmarshal(raw, &v); err != nil {
		return Allowance{}, wrongType(err)
	}

	sts := v.ControlPlane.StatefulSet
	a := Allowance{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	a.add(sts.Resources, sts.HighAvailability.Replicas)

	for range sts.HighAvailability.Replicas {
		a.Storage.Add(sts.Persistence.VolumeClaim.Size)
	}

	if dns := v.ControlPlane.CoreDNS; dns.Enabled {
		a.add(dns.Deployment.Resources, dns.Deployment.Replicas)
	}

	return a, nil
}

// wrongType names the field, where the decoder knows it.
func wrongType(err error) error {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) && t.Field != "" {
		return fmt.Errorf("%s cannot be a %s", t.Field, t.Value)
	}

	return fmt.Errorf("cannot read the resources of the control plane and CoreDNS: %w", err)
}

// add one container, in so many pods. What it does not ask for it gets from the
// LimitRange.
func (a *Allowance) add(r corev1.ResourceRequirements, pods int64) {
	a.Pods += pods

	for range pods {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit := orDefault(r.Limits, name, defaultLimits)
			// A container with a limit and no request requests its limit.
			request := orDefault(r.Requests, name, corev1.ResourceList{name: limit})

			a.Limits[name] = sum(a.Limits[name], limit)
			a.Requests[name] = sum(a.Requests[name], request)
		}
	}
}

func orDefault(l corev1.ResourceList, name corev1.ResourceName, d corev1.ResourceList) resource.Quantity {
	if q, ok := l[name]; ok {
		return q
	}

	return d[name]
}

func deepCopy(from, to any) error {
	raw, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("cannot copy the chart's defaults: %w", err)
	}

	return json.Unmarshal(raw, to)
}
