// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// ErrNoPods says that no host cluster runs pods of a workload, which then need nothing.
var ErrNoPods = errors.New("no host cluster runs such pods")

// need of one resource.
type need struct{ request, limit resource.Quantity }

func (n need) plus(o need) need {
	return need{sum(n.request, o.request), sum(n.limit, o.limit)}
}

// atLeast is the larger of each.
func (n need) atLeast(o need) need {
	if n.request.Cmp(o.request) < 0 {
		n.request = o.request
	}

	if n.limit.Cmp(o.limit) < 0 {
		n.limit = o.limit
	}

	return n
}

// podNeeds is what a ResourceQuota counts for a pod. An error names the container
// that the host cluster would refuse.
func podNeeds(p corev1.PodSpec) (corev1.ResourceRequirements, error) {
	out := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}

	for _, name := range bounded {
		n, err := podNeed(p, name)
		if err != nil {
			return out, err
		}

		out.Requests[name], out.Limits[name] = n.request, n.limit
	}

	return out, nil
}

// podNeed is the larger of what the pod needs while it runs and while it starts,
// when each init container runs beside the sidecars before it.
func podNeed(p corev1.PodSpec, name corev1.ResourceName) (need, error) {
	var running, starting, sidecars need

	for _, c := range p.Containers {
		n, err := containerNeed(c, name)
		if err != nil {
			return need{}, err
		}

		running = running.plus(n)
	}

	for _, c := range p.InitContainers {
		n, err := containerNeed(c, name)
		if err != nil {
			return need{}, err
		}

		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			running, sidecars = running.plus(n), sidecars.plus(n)
		} else {
			starting = starting.atLeast(sidecars.plus(n))
		}
	}

	overhead := p.Overhead[name]
	if most := largest[name]; overhead.Sign() < 0 || overhead.Cmp(most) > 0 {
		return need{}, fmt.Errorf("the overhead of the pod is %s of %s: it must be 0 to %s", overhead.String(), name, most.String())
	}

	return running.atLeast(starting).plus(need{overhead, overhead}), nil
}

// largest is the most that a container may be limited to: sums beyond it are not
// stored as they were computed.
var largest = corev1.ResourceList{
	corev1.ResourceCPU:    resource.MustParse("100000"),
	corev1.ResourceMemory: resource.MustParse("1Pi"),
}

// largestVolume is the most that a volume may have.
var largestVolume = resource.MustParse("1Ei")

func containerNeed(c corev1.Container, name corev1.ResourceName) (need, error) {
	request, limit := admitted(c.Resources, name)
	if most := largest[name]; limit.Cmp(most) > 0 {
		return need{}, fmt.Errorf("%w: container %q is limited to %s of %s, which is more than the %s that any node has: lower resources.limits.%s",
			ErrNoPods, c.Name, limit.String(), name, most.String(), name)
	}

	if request.Sign() < 0 {
		return need{}, fmt.Errorf("%w: container %q requests %s of %s: set resources.requests.%s to 0 or more", ErrNoPods, c.Name, request.String(), name, name)
	}

	if request.Cmp(limit) > 0 {
		return need{}, fmt.Errorf("%w: container %q requests %s of %s and is limited to %s, which the host cluster refuses: set resources.limits.%s, too",
			ErrNoPods, c.Name, request.String(), name, limit.String(), name)
	}

	return need{request, limit}, nil
}
