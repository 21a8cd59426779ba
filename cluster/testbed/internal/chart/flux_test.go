// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/images"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: CONTROLLER, labels: {control-plane: controller}}
spec:
  selector: {matchLabels: {app: CONTROLLER}}
  template:
    metadata: {labels: {app: CONTROLLER}}
    spec:
      containers:
      - name: manager
        image: fluxcd/CONTROLLER
        args: [--adv=CONTROLLER.$(RUNTIME_NAMESPACE).svc.cluster.local.]
        securityContext: {runAsNonRoot: true}
        readinessProbe: {httpGet: {port: healthz, path: /readyz}}
        resources: {limits: {cpu: 1000m}}
`

// modules writes the folders of the controllers' modules, as far as they matter.
func modules(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, files := range map[string]map[string]string{
		"source-controller": {
			"config/manager/deployment.yaml":    deployment,
			"config/manager/service.yaml":       "apiVersion: v1\nkind: Service\nmetadata: {name: CONTROLLER, labels: {control-plane: controller}}\nspec: {selector: {app: CONTROLLER}}\n",
			"config/manager/kustomization.yaml": "kind: Kustomization\n",
			"config/rbac/role.yaml":             "---\nkind: ClusterRole\nrules: [{apiGroups: [source], resources: [buckets], verbs: [get]}]\n",
			"config/crd/bases/buckets.yaml":     "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: buckets, annotations: {made-by: gen}}\n",
		},
		"kustomize-controller": {
			"config/manager/deployment.yaml":       deployment,
			"config/rbac/role.yaml":                "kind: ClusterRole\nrules: [{apiGroups: [kustomize], resources: [kustomizations], verbs: [get]}]\n",
			"config/rbac/unused_viewer_role.yaml":  "kind: ClusterRole\nrules: [{apiGroups: [unused]}]\n",
			"config/crd/bases/kustomizations.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: kustomizations, annotations: {made-by: gen}}\n",
		},
	} {
		files["config/rbac/leader_election_role.yaml"] = "kind: Role\nrules: [{apiGroups: [coordination.k8s.io], resources: [leases], verbs: [create]}]\n"
		out[name] = t.TempDir()
		for file, content := range files {
			place := filepath.Join(out[name], file)
			if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(place, []byte(strings.ReplaceAll(content, "CONTROLLER", name)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return out
}

func packed(t *testing.T) *chart.Chart {
	t.Helper()
	file, err := PackFlux(modules(t), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c, err := loader.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// objects renders the chart into the namespace "flux" and returns its objects by
// KIND NAME.
func objects(t *testing.T, values string) map[string]*unstructured.Unstructured {
	t.Helper()
	v, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		t.Fatal(err)
	}
	c := packed(t)
	v, err = chartutil.ToRenderValues(c, v, chartutil.ReleaseOptions{Name: "any", Namespace: "flux"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(c, v)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*unstructured.Unstructured{}
	for name, content := range files {
		for doc := range strings.SplitSeq(content, "\n---\n") {
			o := &unstructured.Unstructured{}
			if err := yaml.UnmarshalStrict([]byte(doc), &o.Object); err != nil {
				t.Fatalf("%s: %v:\n%s", name, err, doc)
			}
			if len(o.Object) > 0 {
				out[o.GetKind()+" "+o.GetName()] = o
			}
		}
	}
	return out
}

// as returns the object as its Go type.
func as[T any](t *testing.T, o *unstructured.Unstructured) T {
	t.Helper()
	var out T
	if o == nil {
		t.Fatal("the object is not among those of the chart")
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(o.Object, &out, true); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFluxVersion(t *testing.T) {
	t.Parallel()
	c := packed(t)
	if c.Metadata.Name != "flux2" || c.Metadata.Version != FluxVersion || c.Metadata.AppVersion != "2.9.0" {
		t.Errorf("the chart is %s %s of Flux %s", c.Metadata.Name, c.Metadata.Version, c.Metadata.AppVersion)
	}
}

func TestFluxObjects(t *testing.T) {
	t.Parallel()
	both := sets.New(
		"ServiceAccount source-controller", "Deployment source-controller", "Service source-controller",
		"ServiceAccount kustomize-controller", "Deployment kustomize-controller",
		"CustomResourceDefinition buckets", "CustomResourceDefinition kustomizations",
		"ClusterRole crd-controller", "ClusterRoleBinding crd-controller", "ClusterRoleBinding cluster-reconciler",
		"ClusterRole flux-view", "ClusterRole flux-edit",
	)
	cases := map[string]struct {
		reason string
		values string
		lacks  sets.Set[string]
	}{
		"Defaults": {reason: "all is there"},
		"RealValues": {
			reason: "what only the real chart knows is ignored",
			values: "helmController: {create: true}\nnotificationController: {create: false}\ncli: {tag: v1}\npolicies: {create: true}\nlogLevel: debug\n",
		},
		"WithoutCRDs": {
			reason: "they may have been installed by other means", values: "installCRDs: false",
			lacks: sets.New("CustomResourceDefinition buckets", "CustomResourceDefinition kustomizations"),
		},
		"OneController": {
			reason: "what is the other's goes with it", values: "kustomizeController: {create: false}",
			lacks: sets.New("ServiceAccount kustomize-controller", "Deployment kustomize-controller", "CustomResourceDefinition kustomizations"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := objects(t, tc.values)
			if diff := cmp.Diff(sets.List(both.Difference(tc.lacks)), sets.List(sets.KeySet(got))); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}
			for id, o := range got {
				if o.GetLabels()["app.kubernetes.io/part-of"] != "flux" && !strings.HasPrefix(id, "ClusterRole flux-") {
					t.Errorf("%s: %s has labels %v", tc.reason, id, o.GetLabels())
				}
			}
		})
	}
}

func TestFluxDefaults(t *testing.T) {
	t.Parallel()
	got := objects(t, "")
	for name, image := range map[string]string{"source-controller": images.SourceController, "kustomize-controller": images.KustomizeController} {
		d := as[appsv1.Deployment](t, got["Deployment "+name])
		pod := d.Spec.Template.Spec
		c := pod.Containers[0]
		if c.Image != image {
			t.Errorf("%s runs %q, and the registry has %q", name, c.Image, image)
		}
		if diff := cmp.Diff([]string{"--adv=" + name + ".$(RUNTIME_NAMESPACE).svc.cluster.local."}, c.Args); diff != "" {
			t.Errorf("%s: arguments of the module's manifest: -want +got:\n%s", name, diff)
		}
		if pod.ServiceAccountName != name || *c.SecurityContext.RunAsUser != 65534 || !*c.SecurityContext.RunAsNonRoot {
			t.Errorf("%s runs as account %q and user %v", name, pod.ServiceAccountName, c.SecurityContext)
		}
		if c.ReadinessProbe.PeriodSeconds != 1 || c.ReadinessProbe.HTTPGet.Path != "/readyz" {
			t.Errorf("%s is asked by %v", name, c.ReadinessProbe)
		}
		if len(c.Resources.Limits) > 0 || c.Resources.Requests.Cpu().String() != "100m" || c.Resources.Requests.Memory().String() != "64Mi" {
			t.Errorf("%s has the resources %v, not those of the real chart", name, c.Resources)
		}
		if d.Labels["control-plane"] != "controller" || d.Labels["app.kubernetes.io/component"] != name {
			t.Errorf("%s has labels %v", name, d.Labels)
		}
	}
}

func TestFluxValues(t *testing.T) {
	t.Parallel()
	got := objects(t, `
crds: {annotations: {helm.sh/resource-policy: keep}}
sourceController:
  image: mirror/source
  tag: sha256:abc
  resources: {limits: {cpu: 200m, memory: 256Mi}, requests: {cpu: 20m, memory: 32Mi}}
  container: {additionalArgs: [--concurrent=1]}
kustomizeController: {image: mirror/kustomize, tag: v2}
`)
	c := as[appsv1.Deployment](t, got["Deployment source-controller"]).Spec.Template.Spec.Containers[0]
	if c.Image != "mirror/source@sha256:abc" {
		t.Errorf("a tag that is a digest gives the image %q", c.Image)
	}
	if c.Args[len(c.Args)-1] != "--concurrent=1" || len(c.Args) != 2 {
		t.Errorf("arguments are %q", c.Args)
	}
	want := map[corev1.ResourceName]string{"limits.cpu": "200m", "limits.memory": "256Mi", "requests.cpu": "20m", "requests.memory": "32Mi"}
	r := map[corev1.ResourceName]string{
		"limits.cpu": c.Resources.Limits.Cpu().String(), "limits.memory": c.Resources.Limits.Memory().String(),
		"requests.cpu": c.Resources.Requests.Cpu().String(), "requests.memory": c.Resources.Requests.Memory().String(),
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("resources: -want +got:\n%s", diff)
	}
	if c := as[appsv1.Deployment](t, got["Deployment kustomize-controller"]).Spec.Template.Spec.Containers[0]; c.Image != "mirror/kustomize:v2" {
		t.Errorf("kustomize-controller runs %q", c.Image)
	}
	for _, name := range []string{"buckets", "kustomizations"} {
		crd := got["CustomResourceDefinition "+name]
		if diff := cmp.Diff(map[string]string{"made-by": "gen", "helm.sh/resource-policy": "keep"}, crd.GetAnnotations()); diff != "" {
			t.Errorf("annotations of %s: -want +got:\n%s", name, diff)
		}
	}
}

func TestFluxRights(t *testing.T) {
	t.Parallel()
	got := objects(t, "")
	var resources []string
	for _, r := range as[rbacv1.ClusterRole](t, got["ClusterRole crd-controller"]).Rules {
		resources = append(resources, r.Resources...)
	}
	if diff := cmp.Diff([]string{"leases", "kustomizations", "leases", "buckets"}, resources); diff != "" {
		t.Errorf("the rights are not those of the modules: -want +got:\n%s", diff)
	}
	account := func(name string) rbacv1.Subject {
		return rbacv1.Subject{Kind: "ServiceAccount", Name: name, Namespace: "flux"}
	}
	for name, want := range map[string]struct {
		role     string
		subjects []rbacv1.Subject
	}{
		"crd-controller":     {role: "crd-controller", subjects: []rbacv1.Subject{account("kustomize-controller"), account("source-controller")}},
		"cluster-reconciler": {role: "cluster-admin", subjects: []rbacv1.Subject{account("kustomize-controller")}},
	} {
		b := as[rbacv1.ClusterRoleBinding](t, got["ClusterRoleBinding "+name])
		if diff := cmp.Diff(want.subjects, b.Subjects); diff != "" || b.RoleRef.Name != want.role {
			t.Errorf("%s binds %q: -want +got:\n%s", name, b.RoleRef.Name, diff)
		}
	}
}

func TestPackFluxWithoutManifests(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"config/manager/deployment.yaml", "config/crd/bases/kustomizations.yaml"} {
		in := modules(t)
		if err := os.Remove(filepath.Join(in["kustomize-controller"], file)); err != nil {
			t.Fatal(err)
		}
		if _, err := PackFlux(in, t.TempDir()); err == nil || !strings.Contains(err.Error(), "kustomize-controller") || !strings.Contains(err.Error(), filepath.Dir(file)) {
			t.Errorf("PackFlux(...) without %s = %v, want what is missing of whom", file, err)
		}
	}
}

func TestFluxDigest(t *testing.T) {
	t.Parallel()
	one, err := FluxDigest()
	if err != nil {
		t.Fatal(err)
	}
	if two, err := FluxDigest(); err != nil || one != two || len(one) != 64 {
		t.Errorf("FluxDigest() = %q, then %q, %v", one, two, err)
	}
}
