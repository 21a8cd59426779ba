// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisor

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const (
	// user that it runs as, and its group: the one of images without a shell.
	user = 65532
	// grace is how long, in seconds, one of its pods has to end. It keeps nothing.
	grace = 5
	// readyEvery and aliveEvery are how often, in seconds, it is asked how it is.
	readyEvery, aliveEvery = 1, 10
)

// What one of its pods gets that settings do not say otherwise for.
var (
	defaultRequests = corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("25m"),
		corev1.ResourceMemory: resource.MustParse("32Mi"),
	}
	defaultLimits = corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("200m"),
		corev1.ResourceMemory: resource.MustParse("128Mi"),
	}
)

// Deployment of the App Advisor. Its resources name requests and limits of CPU
// and memory, whatever the settings leave out, so that they are what it counts
// with. An update takes a pod away before it makes another, so that it fits in
// the same quota.
func Deployment(s v1alpha1.AdvisorSettings) *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
		ObjectMeta: named(),
		Spec: appsv1.DeploymentSpec{
			Replicas:             ptr.To(ptr.Deref(s.Replicas, 1)),
			RevisionHistoryLimit: ptr.To[int32](2),
			Selector:             &metav1.LabelSelector{MatchLabels: Labels()},
			Strategy: appsv1.DeploymentStrategy{
				Type: appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{
					MaxSurge:       ptr.To(intstr.FromInt32(0)),
					MaxUnavailable: ptr.To(intstr.FromInt32(1)),
				},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: allLabels()},
				Spec:       pod(s),
			},
		},
	}
}

func pod(s v1alpha1.AdvisorSettings) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName:            Name,
		AutomountServiceAccountToken:  ptr.To(true),
		EnableServiceLinks:            ptr.To(false),
		TerminationGracePeriodSeconds: ptr.To[int64](grace),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   ptr.To(true),
			RunAsUser:      ptr.To[int64](user),
			RunAsGroup:     ptr.To[int64](user),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{container(s)},
	}
}

func container(s v1alpha1.AdvisorSettings) corev1.Container {
	env := make([]corev1.EnvVar, len(s.Env))
	for i := range s.Env {
		s.Env[i].DeepCopyInto(&env[i])
	}

	return corev1.Container{
		Name:      Container,
		Image:     s.Image,
		Env:       env,
		Resources: resources(ptr.Deref(s.Resources, corev1.ResourceRequirements{})),
		Ports: []corev1.ContainerPort{
			{Name: PortName, ContainerPort: Port, Protocol: corev1.ProtocolTCP},
		},
		ReadinessProbe: probe(readyEvery),
		LivenessProbe:  probe(aliveEvery),
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false),
			ReadOnlyRootFilesystem:   ptr.To(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
}

func probe(every int32) *corev1.Probe {
	return &corev1.Probe{
		PeriodSeconds: every,
		ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Path: HealthPath, Port: intstr.FromString(PortName)},
		},
	}
}

// resources fills in what r leaves out: the default or, where the other half that
// is given would contradict it, that half.
func resources(r corev1.ResourceRequirements) corev1.ResourceRequirements {
	out := *r.DeepCopy()
	if out.Requests == nil {
		out.Requests = corev1.ResourceList{}
	}

	if out.Limits == nil {
		out.Limits = corev1.ResourceList{}
	}

	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		request, requested := r.Requests[name]
		limit, limited := r.Limits[name]

		if !limited {
			limit = defaultLimits[name]
			if requested && request.Cmp(limit) > 0 {
				limit = request
			}
		}

		if !requested {
			request = defaultRequests[name]
			if request.Cmp(limit) > 0 {
				request = limit
			}
		}

		out.Requests[name], out.Limits[name] = request.DeepCopy(), limit.DeepCopy()
	}

	return out
}
