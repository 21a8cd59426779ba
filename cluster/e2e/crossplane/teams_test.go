// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package crossplane

import (
	"context"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// The functions are function-auto-ready itself, and a fake that does of
// function-patch-and-transform what the examples ask for.
var _ = Describe("Compositions of a platform team", Ordered, ContinueOnFailure, func() {
	BeforeAll(func(ctx SpecContext) {
		installExample(ctx, "composition", "functions.yaml")
	}, NodeTimeout(specLimit))

	It("make what they like of a Tenant, an AdvisorAgent and a TenantQuota", func(ctx SpecContext) {
		installExample(ctx, "composition", "definition.yaml")
		installExample(ctx, "composition", "composition.yaml", setAdvisorImage)
		namespace := newNamespace(ctx)
		o := applied(ctx, namespace, "composition", "workspace.yaml")
		eventuallyReady(ctx, o)

		t := theTenant(ctx, namespace)
		Expect(t.Spec.TenantName).To(Equal("alice-build"))
		Expect(t.Status.Message).To(Equal("vCluster, Flux and App Advisor ready"))

		agent, quota := &v1alpha1.AdvisorAgent{}, &v1alpha1.TenantQuota{}
		for _, beside := range []client.Object{agent, quota} {
			expectComposed(ctx, o, beside)
		}

		in := inside(ctx, namespace, field(o, "status", "kubeconfigSecret"))
		inner := &corev1.ResourceQuotaList{}
		Expect(in.List(ctx, inner, client.InNamespace(metav1.NamespaceDefault))).To(Succeed())
		Expect(inner.Items).To(ContainElement(HaveField("Spec.Hard", HaveKey(corev1.ResourcePods))))

		expectToGo(ctx, o, t)
	}, SpecTimeout(specLimit))

	It("go on from a CloudSpace by its kubeconfig", func(ctx SpecContext) {
		installExample(ctx, "chaining", "provider.yaml")
		installExample(ctx, "chaining", "definition.yaml")
		installExample(ctx, "chaining", "composition.yaml")
		namespace := newNamespace(ctx)
		o := applied(ctx, namespace, "chaining", "teamspace.yaml")
		eventuallyReady(ctx, o)

		greeting := &corev1.ConfigMap{}
		in := inside(ctx, namespace, field(o, "status", "kubeconfigSecret"))
		Expect(in.Get(ctx, client.ObjectKey{Namespace: "welcome", Name: "greeting"}, greeting)).To(Succeed())
		Expect(greeting.Data).To(HaveKeyWithValue("greeting", "Hello, team alice"))

		expectToGo(ctx, o, theTenant(ctx, namespace))
	}, SpecTimeout(specLimit))

	It("are, like all examples, what the API server takes", func(ctx SpecContext) {
		files, err := filepath.Glob(filepath.Join(root, "examples", "*", "*.yaml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(cluster.ApplyFile(ctx, filepath.Join(root, "examples", "tenant", "namespace.yaml"))).To(Succeed())
		installExample(ctx, "cloudspace", "namespace.yaml")

		for _, f := range files {
			// Its kinds are Flux's, inside a CloudSpace.
			if filepath.Base(filepath.Dir(f)) != "gitops" {
				_, err := rig.Kubectl(ctx, "apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", f)
				Expect(err).NotTo(HaveOccurred())
			}
		}
	}, SpecTimeout(specLimit))
})

// installExample applies a file of what is there once for the whole cluster, and
// waits until Crossplane works with it. It stays for all specs.
func installExample(ctx context.Context, folder, file string, changes ...func(*unstructured.Unstructured)) {
	GinkgoHelper()

	all, err := rig.ReadManifests(filepath.Join(root, "examples", folder, file))
	Expect(err).NotTo(HaveOccurred())

	for _, o := range all {
		for _, change := range changes {
			change(o)
		}

		Expect(cluster.Establish(ctx, o, say)).To(Succeed())
	}
}

// setAdvisorImage names an App Advisor that the test bed has, in the base of the
// AdvisorAgent.
func setAdvisorImage(composition *unstructured.Unstructured) {
	GinkgoHelper()

	pipeline, _, err := unstructured.NestedSlice(composition.Object, "spec", "pipeline")
	Expect(err).NotTo(HaveOccurred())

	changed := false

	resources, _, err := unstructured.NestedSlice(pipeline[0].(map[string]any), "input", "resources")
	Expect(err).NotTo(HaveOccurred())

	for _, r := range resources {
		r := r.(map[string]any)
		if r["name"] == "advisor" {
			Expect(unstructured.SetNestedField(r, rig.FakeAdvisorImage, "base", "spec", "image")).To(Succeed())

			changed = true
		}
	}

	Expect(changed).To(BeTrue(), "the Composition has no AdvisorAgent")
	Expect(unstructured.SetNestedSlice(pipeline[0].(map[string]any), resources, "input", "resources")).To(Succeed())
	Expect(unstructured.SetNestedSlice(composition.Object, pipeline, "spec", "pipeline")).To(Succeed())
}

// expectComposed proves that the only object of its kind in the namespace belongs
// to the composite, and reads it.
func expectComposed(ctx context.Context, xr *unstructured.Unstructured, o client.Object) {
	GinkgoHelper()

	l := &unstructured.UnstructuredList{}
	k, err := cluster.Client.GroupVersionKindFor(o)
	Expect(err).NotTo(HaveOccurred())
	l.SetGroupVersionKind(k)
	Expect(cluster.Client.List(ctx, l, client.InNamespace(xr.GetNamespace()))).To(Succeed())
	Expect(l.Items).To(HaveLen(1))
	Expect(metav1.IsControlledBy(&l.Items[0], xr)).To(BeTrue(), "%s is not of the composite", k.Kind)
}

// expectToGo deletes the composite, and proves that nothing is left of its Tenant.
func expectToGo(ctx context.Context, xr *unstructured.Unstructured, t *v1alpha1.Tenant) {
	GinkgoHelper()
	Expect(cluster.Client.Delete(ctx, xr, client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())
	eventuallyGone(ctx, xr)
	expectNothingLeft(ctx, t)
}

// inside is a client of the tenant's own API.
func inside(ctx context.Context, namespace, secret string) client.Client {
	GinkgoHelper()

	cfg, err := clientcmd.RESTConfigFromKubeConfig(secretData(ctx, namespace, secret)["kubeconfig"])
	Expect(err).NotTo(HaveOccurred())

	c, err := client.New(cfg, client.Options{})
	Expect(err).NotTo(HaveOccurred())

	return c
}
