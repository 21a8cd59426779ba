// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

func TestObjects(t *testing.T) {
	t.Parallel()

	var got []string

	for _, o := range Objects(v1alpha1.AdvisorSettings{Image: "i"}) {
		gvk := o.GetObjectKind().GroupVersionKind()
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s/%s", gvk.GroupVersion(), gvk.Kind, o.GetNamespace(), o.GetName())))

		if o.GetLabels()["app.kubernetes.io/managed-by"] != "provider-kubeopera" {
			t.Errorf("%s has labels %v", gvk.Kind, o.GetLabels())
		}
	}

	want := []string{
		"v1 Namespace /app-advisor",
		"v1 ServiceAccount app-advisor/app-advisor-srv",
		"rbac.authorization.k8s.io/v1 ClusterRole /app-advisor-srv",
		"rbac.authorization.k8s.io/v1 ClusterRoleBinding /app-advisor-srv",
		"v1 Service app-advisor/app-advisor-srv",
		"apps/v1 Deployment app-advisor/app-advisor-srv",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestRole holds that the App Advisor may read, and no secret.
func TestRole(t *testing.T) {
	t.Parallel()

	may := func(group, resource string) bool {
		return slices.ContainsFunc(role().Rules, func(r rbacv1.PolicyRule) bool {
			return slices.Contains(r.APIGroups, group) && (slices.Contains(r.Resources, resource) || slices.Contains(r.Resources, "*"))
		})
	}

	for _, r := range role().Rules {
		if diff := cmp.Diff([]string{"get", "list", "watch"}, r.Verbs); diff != "" {
			t.Errorf("%v: it may do more than read: %s", r.Resources, diff)
		}

		if len(r.NonResourceURLs) > 0 || slices.Contains(r.APIGroups, "*") {
			t.Errorf("it may read everything: %v", r)
		}
	}

	for _, not := range [][2]string{
		{"", "secrets"}, {"", "pods/log"}, {"", "pods/exec"}, {"", "serviceaccounts/token"}, {"rbac.authorization.k8s.io", "clusterroles"},
		{"authentication.k8s.io", "tokenreviews"}, {"certificates.k8s.io", "certificatesigningrequests"},
	} {
		if may(not[0], not[1]) {
			t.Errorf("it may read %s.%s", not[1], not[0])
		}
	}

	for group, resources := range map[string][]string{
		"": {
			"pods", "nodes", "namespaces", "services", "events", "configmaps", "persistentvolumeclaims", "resourcequotas", "limitranges", "serviceaccounts",
		},
		"apps": {"deployments", "statefulsets", "daemonsets", "replicasets"}, "batch": {"jobs", "cronjobs"}, "autoscaling": {"horizontalpodautoscalers"},
		"networking.k8s.io": {"ingresses", "networkpolicies"}, "policy": {"poddisruptionbudgets"}, "storage.k8s.io": {"storageclasses"},
		"apiextensions.k8s.io": {"customresourcedefinitions"}, "metrics.k8s.io": {"pods", "nodes"}, "events.k8s.io": {"events"},
		"source.toolkit.fluxcd.io": {"gitrepositories"}, "kustomize.toolkit.fluxcd.io": {"kustomizations"}, "helm.toolkit.fluxcd.io": {"helmreleases"},
		"notification.toolkit.fluxcd.io": {"alerts"}, "image.toolkit.fluxcd.io": {"imagepolicies"},
	} {
		for _, r := range resources {
			if !may(group, r) {
				t.Errorf("it may not read %s.%s", r, group)
			}
		}
	}
}

// TestNames holds that what refers to something by name refers to what there is.
func TestNames(t *testing.T) {
	t.Parallel()

	b, s, d := binding(), service(), Deployment(v1alpha1.AdvisorSettings{Image: "i"})
	pod := d.Spec.Template

	if b.RoleRef.Name != role().GetName() || b.Subjects[0].Name != account().GetName() || b.Subjects[0].Namespace != account().GetNamespace() {
		t.Errorf("the binding gives %v to %v", b.RoleRef, b.Subjects)
	}

	if pod.Spec.ServiceAccountName != account().GetName() || !*pod.Spec.AutomountServiceAccountToken {
		t.Errorf("the pods run as %q", pod.Spec.ServiceAccountName)
	}

	for name, selector := range map[string]map[string]string{"Service": s.Spec.Selector, "Deployment": d.Spec.Selector.MatchLabels} {
		selected := maps.Clone(pod.Labels)
		maps.Copy(selected, selector)

		if len(selector) == 0 || !maps.Equal(selected, pod.Labels) {
			t.Errorf("%s selects %v, pods have %v", name, selector, pod.Labels)
		}
	}

	c := pod.Spec.Containers[0]
	if p := c.Ports[0]; s.Spec.Ports[0].TargetPort != intstr.FromString(p.Name) || p.ContainerPort != Port || s.Spec.Ports[0].Port != ServicePort {
		t.Errorf("Service port %v, container port %v", s.Spec.Ports[0], p)
	}

	if want := fmt.Sprintf("http://%s.%s.svc:%d", s.GetName(), s.GetNamespace(), s.Spec.Ports[0].Port); Endpoint != want {
		t.Errorf("endpoint %s, want %s", Endpoint, want)
	}
}

func TestDeployment(t *testing.T) {
	t.Parallel()

	s := v1alpha1.AdvisorSettings{
		Image: "registry.example.org/a:v1", Replicas: ptr.To[int32](3),
		Env: []corev1.EnvVar{{Name: "A", Value: "b"}, {Name: "S", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "k"}}}},
	}
	before := s.DeepCopy()
	d := Deployment(s)
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]

	if *d.Spec.Replicas != 3 || c.Image != s.Image || c.Name != Container {
		t.Errorf("%d replicas of %s, container %s", *d.Spec.Replicas, c.Image, c.Name)
	}

	if diff := cmp.Diff(s.Env, c.Env); diff != "" {
		t.Errorf("environment: -want, +got:\n%s", diff)
	}

	if u := d.Spec.Strategy.RollingUpdate; u.MaxSurge.IntValue() != 0 || u.MaxUnavailable.IntValue() != 1 {
		t.Errorf("an update does not fit in the quota: %v", u)
	}

	if sc := pod.SecurityContext; !*sc.RunAsNonRoot || *sc.RunAsUser != 65532 || sc.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("pods run with %v", sc)
	}

	if sc := c.SecurityContext; !*sc.ReadOnlyRootFilesystem || *sc.AllowPrivilegeEscalation || sc.Capabilities.Drop[0] != "ALL" {
		t.Errorf("the container runs with %v", sc)
	}

	for every, p := range map[int32]*corev1.Probe{1: c.ReadinessProbe, 10: c.LivenessProbe} {
		if p.PeriodSeconds != every || p.HTTPGet.Path != "/healthz" || p.HTTPGet.Port != intstr.FromString("http") {
			t.Errorf("probe %v, want every %d s", p, every)
		}
	}

	// What a caller does with it is the caller's.
	c.Env[1].ValueFrom.SecretKeyRef.Key = "changed"
	c.Resources.Limits[corev1.ResourceCPU] = resource.MustParse("99")

	if diff := cmp.Diff(before, &s); diff != "" {
		t.Errorf("the settings were changed: %s", diff)
	}

	if again := Deployment(v1alpha1.AdvisorSettings{}); again.Spec.Template.Spec.Containers[0].Resources.Limits.Cpu().String() != "200m" || *again.Spec.Replicas != 1 {
		t.Errorf("the defaults were changed: %v", again.Spec)
	}
}

func TestResources(t *testing.T) {
	t.Parallel()

	list := func(cpu, memory string) corev1.ResourceList {
		out := corev1.ResourceList{}
		if cpu != "" {
			out[corev1.ResourceCPU] = resource.MustParse(cpu)
		}

		if memory != "" {
			out[corev1.ResourceMemory] = resource.MustParse(memory)
		}

		return out
	}
	words := func(l corev1.ResourceList) string { return l.Cpu().String() + " " + l.Memory().String() }

	cases := map[string]struct {
		reason           string
		given            *corev1.ResourceRequirements
		requests, limits string
	}{
		"Unset":       {"the defaults", nil, "25m 32Mi", "200m 128Mi"},
		"Empty":       {"nothing is named", &corev1.ResourceRequirements{}, "25m 32Mi", "200m 128Mi"},
		"All":         {"what is named counts", &corev1.ResourceRequirements{Requests: list("1", "1Gi"), Limits: list("2", "2Gi")}, "1 1Gi", "2 2Gi"},
		"One":         {"what is not named is the default", &corev1.ResourceRequirements{Limits: list("1", "")}, "25m 32Mi", "1 128Mi"},
		"SmallLimit":  {"a default never asks for more than is allowed", &corev1.ResourceRequirements{Limits: list("10m", "16Mi")}, "10m 16Mi", "10m 16Mi"},
		"LargeAsking": {"and never allows less than is asked for", &corev1.ResourceRequirements{Requests: list("1", "1Gi")}, "1 1Gi", "1 1Gi"},
		"SmallAsking": {"otherwise it is what it is", &corev1.ResourceRequirements{Requests: list("50m", "64Mi")}, "50m 64Mi", "200m 128Mi"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := Deployment(v1alpha1.AdvisorSettings{Resources: tc.given}).Spec.Template.Spec.Containers[0].Resources
			if words(got.Requests) != tc.requests || words(got.Limits) != tc.limits {
				t.Errorf("%s: requests %s, limits %s", tc.reason, words(got.Requests), words(got.Limits))
			}
		})
	}
}
