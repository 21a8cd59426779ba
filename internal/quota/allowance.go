// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubeopera/provider-kubeopera/internal/quantity"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
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

// initContainer is the chart's default for the container that brings Kubernetes.
var initContainer = map[string]any{"resources": map[string]any{
	"limits":   map[string]any{"cpu": "100m", "memory": "256Mi"},
	"requests": map[string]any{"cpu": "40m", "memory": "64Mi"},
}}

// chartDefaults are the vCluster chart's defaults for what an allowance depends
// on. Source: chart/values.yaml of github.com/loft-sh/vcluster v0.36.1; older
// charts have the same or less.
var chartDefaults = map[string]any{"controlPlane": map[string]any{
	"distro": map[string]any{"k8s": initContainer, "k3s": initContainer},
	"coredns": map[string]any{
		"enabled": true,
		"deployment": map[string]any{
			"replicas": 1,
			"resources": map[string]any{
				"limits":   map[string]any{"cpu": "1000m", "memory": "170Mi"},
				"requests": map[string]any{"cpu": "20m", "memory": "64Mi"},
			},
		},
	},
	"backingStore": map[string]any{"etcd": map[string]any{"deploy": map[string]any{
		"enabled": false,
		"statefulSet": map[string]any{
			"highAvailability": map[string]any{"replicas": 1},
			"persistence":      map[string]any{"volumeClaim": map[string]any{"enabled": true, "size": "5Gi"}},
			"resources":        map[string]any{"requests": map[string]any{"cpu": "20m", "memory": "150Mi"}},
		},
	}}},
	"statefulSet": map[string]any{
		"highAvailability": map[string]any{"replicas": 1},
		"persistence":      map[string]any{"volumeClaim": map[string]any{"enabled": "auto", "size": "5Gi"}},
		"resources": map[string]any{
			"limits":   map[string]any{"memory": "4Gi"},
			"requests": map[string]any{"cpu": "200m", "memory": "256Mi"},
		},
	},
}}

// maxReplicas bounds the pods of one kind.
const maxReplicas = 100

// The part of the vCluster chart's values that an allowance depends on.
type (
	vclusterValues struct {
		ControlPlane controlPlane `json:"controlPlane"`
	}
	controlPlane struct {
		// Distro holds what the init container that brings Kubernetes may use.
		Distro       map[string]deployment `json:"distro"`
		BackingStore backingStore          `json:"backingStore"`
		CoreDNS      coreDNS               `json:"coredns"`
		StatefulSet  statefulSet           `json:"statefulSet"`
	}
	backingStore struct {
		Database database `json:"database"`
		Etcd     etcd     `json:"etcd"`
	}
	database struct {
		External external `json:"external"`
	}
	etcd struct {
		Deploy   deployedEtcd `json:"deploy"`
		External external     `json:"external"`
	}
	external struct {
		Enabled bool `json:"enabled"`
	}
	deployedEtcd struct {
		Enabled     bool        `json:"enabled"`
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
		// Enabled is a boolean, or the word auto.
		Enabled any               `json:"enabled"`
		Size    resource.Quantity `json:"size"`
	}
)

// AllowanceFor is the allowance for a vCluster that is installed with these
// values: its control plane, its etcd if it has one, and its CoreDNS. An error
// names the field.
func AllowanceFor(values map[string]any) (Allowance, error) {
	v, distro, err := parseValues(values)
	if err != nil {
		return Allowance{}, err
	}

	a := Allowance{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}

	if err := a.addControlPlane(v.ControlPlane, distro); err != nil {
		return Allowance{}, err
	}

	if store := v.ControlPlane.BackingStore.Etcd.Deploy; store.Enabled {
		hasVolume := store.StatefulSet.Persistence.VolumeClaim.Enabled == true
		if err := a.addSet("controlPlane.backingStore.etcd.deploy.statefulSet", store.StatefulSet, hasVolume); err != nil {
			return Allowance{}, err
		}
	}

	err = a.addDNS(v.ControlPlane.CoreDNS)

	return a, err
}

// AllowanceForDNS is the part of it that is for CoreDNS.
func AllowanceForDNS(values map[string]any) (Allowance, error) {
	v, _, err := parseValues(values)
	if err != nil {
		return Allowance{}, err
	}

	a := Allowance{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}

	err = a.addDNS(v.ControlPlane.CoreDNS)

	return a, err
}

func (a *Allowance) addDNS(c coreDNS) error {
	if !c.Enabled {
		return nil
	}

	return a.addPods("controlPlane.coredns.deployment", "replicas", c.Deployment)
}

// parseValues reads what an allowance depends on, with the chart's defaults, and the
// distribution that runs.
func parseValues(values map[string]any) (v vclusterValues, distro string, err error) {
	all := vcluster.Merge(chartDefaults, values)

	// Helm and the host cluster read those of all objects that the chart makes.
	if err := cmp.Or(quantity.Check(all, &v), quantity.CheckValues(all)); err != nil {
		return v, "", err
	}

	raw, err := json.Marshal(all)
	if err != nil {
		return v, "", fmt.Errorf("cannot read the vCluster values: %w", err)
	}

	if err := json.Unmarshal(raw, &v); err != nil {
		return v, "", wrongType(err, "the resources of the control plane and CoreDNS")
	}

	return v, string(vcluster.DistroOf(all)), nil
}

// addControlPlane adds the pods of the control plane. Without a volume of its own
// it is a Deployment, whose update makes the new pod before it takes the old one
// away. Of the distributions only the one counts that runs.
func (a *Allowance) addControlPlane(c controlPlane, distro string) error {
	store := c.BackingStore
	elsewhere := store.Etcd.Deploy.Enabled || store.Etcd.External.Enabled || store.Database.External.Enabled
	claim := c.StatefulSet.Persistence.VolumeClaim.Enabled
	hasVolume := claim == true || (claim == "auto" && !elsewhere)

	if err := checkBounds("controlPlane.statefulSet", c.StatefulSet.Resources); err != nil {
		return err
	}

	if d, ok := c.Distro[distro]; ok {
		if err := checkBounds("controlPlane.distro."+distro, d.Resources); err != nil {
			return err
		}

		c.StatefulSet.Resources = largerOf(c.StatefulSet.Resources, d.Resources)
	}

	if err := a.addSet("controlPlane.statefulSet", c.StatefulSet, hasVolume); err != nil || hasVolume {
		return err
	}

	return a.add("controlPlane.statefulSet", 1, c.StatefulSet.Resources)
}

// largerOf is what a pod needs with two containers that never run at the same time.
func largerOf(a, b corev1.ResourceRequirements) corev1.ResourceRequirements {
	out := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}

	for _, name := range bounded {
		var one, other need

		one.request, one.limit = admitted(a, name)
		other.request, other.limit = admitted(b, name)
		one = one.atLeast(other)
		out.Requests[name], out.Limits[name] = one.request, one.limit
	}

	return out
}

// addSet adds the pods of a set and their volumes.
func (a *Allowance) addSet(field string, s statefulSet, hasVolume bool) error {
	d := deployment{Replicas: s.HighAvailability.Replicas, Resources: s.Resources}
	if err := a.addPods(field, "highAvailability.replicas", d); err != nil || !hasVolume {
		return err
	}

	size := s.Persistence.VolumeClaim.Size
	if size.Sign() < 0 || size.Cmp(largestVolume) > 0 {
		return fmt.Errorf("%s.persistence.volumeClaim.size must be 0 to %s, not %s", field, largestVolume.String(), size.String())
	}

	for range s.HighAvailability.Replicas {
		a.Storage.Add(s.Persistence.VolumeClaim.Size)
	}

	return nil
}

// addPods adds the pods of a workload, whose number stands in that field of it.
func (a *Allowance) addPods(field, replicas string, d deployment) error {
	if err := checkBounds(field, d.Resources); err != nil {
		return err
	}

	return a.add(field+"."+replicas, d.Replicas, d.Resources)
}

// checkBounds errs when the resources of a workload are less than nothing, which would take from the tenant's
// share, or more than can be.
func checkBounds(field string, r corev1.ResourceRequirements) error {
	for _, name := range bounded {
		for _, kind := range []string{"requests", "limits"} {
			q := r.Requests[name]
			if kind == "limits" {
				q = r.Limits[name]
			}

			if most := largest[name]; q.Sign() < 0 || q.Cmp(most) > 0 {
				return fmt.Errorf("%s.resources.%s.%s must be 0 to %s, not %s", field, kind, name, most.String(), q.String())
			}
		}
	}

	return nil
}

// wrongType names the field, where the decoder knows it, or else what was read.
func wrongType(err error, what string) error {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) && t.Field != "" {
		return fmt.Errorf("%s cannot be a %s", t.Field, t.Value)
	}

	return fmt.Errorf("cannot read %s: %w", what, err)
}

// add one container, in so many pods as the field says. What it does not ask for
// it gets from the LimitRange.
func (a *Allowance) add(field string, pods int64, r corev1.ResourceRequirements) error {
	if pods < 0 || pods > maxReplicas {
		return fmt.Errorf("%s must be 0 to %d, not %d", field, maxReplicas, pods)
	}

	a.Pods += pods

	for range pods {
		for _, name := range bounded {
			request, limit := admitted(r, name)
			a.Limits[name] = sum(a.Limits[name], limit)
			a.Requests[name] = sum(a.Requests[name], request)
		}
	}

	return nil
}

// Plus is what a and b need together. It shares nothing with either of them.
func (a Allowance) Plus(b Allowance) Allowance {
	return Allowance{
		Requests: sums(a.Requests, b.Requests),
		Limits:   sums(a.Limits, b.Limits),
		Storage:  sum(a.Storage, b.Storage),
		Pods:     a.Pods + b.Pods,
	}
}

func sums(lists ...corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, l := range lists {
		for name, q := range l {
			out[name] = sum(out[name], q)
		}
	}

	return out
}

// bounded are the resources of a pod that a wall bounds.
var bounded = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

// admitted is what a container requests and is limited to once the API server
// and the LimitRange have filled in what it does not name.
func admitted(r corev1.ResourceRequirements, name corev1.ResourceName) (request, limit resource.Quantity) {
	limit = orDefault(r.Limits, name, defaultLimits)
	// A container requests its limit if that is all that it names.
	request = orDefault(r.Requests, name, corev1.ResourceList{name: orDefault(r.Limits, name, defaultRequests)})

	return request, limit
}

func orDefault(l corev1.ResourceList, name corev1.ResourceName, d corev1.ResourceList) resource.Quantity {
	if q, ok := l[name]; ok {
		return q
	}

	return d[name]
}
