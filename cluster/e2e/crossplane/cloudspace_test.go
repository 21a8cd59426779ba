// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package crossplane

import (
	"context"
	"encoding/json"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

var _ = Describe("Two CloudSpaces of a team", Ordered, ContinueOnFailure, func() {
	var (
		namespace           string
		staging, production *unstructured.Unstructured
	)

	BeforeAll(func(ctx SpecContext) {
		namespace = applied(ctx, "", "cloudspace", "namespace.yaml").GetName()
		staging = applied(ctx, namespace, "cloudspace", "staging.yaml")
		production = applied(ctx, namespace, "cloudspace", "production.yaml")
		eventuallyReady(ctx, staging)
		eventuallyReady(ctx, production)
	}, NodeTimeout(specLimit))

	It("say what they are and where", func(ctx SpecContext) {
		for _, o := range []*unstructured.Unstructured{staging, production} {
			t := tenantOf(ctx, o)
			Expect(field(o, "status", "phase")).To(Equal(string(v1alpha1.PhaseReady)))
			Expect(field(o, "status", "message")).To(Equal(t.Status.Message))
			Expect(field(o, "status", "namespace")).To(Equal(t.Status.Namespace))
			Expect(field(o, "status", "endpoint")).To(Equal(t.Status.Endpoint))
			Expect(field(o, "status", "kubeconfigSecret")).To(Equal(t.Status.KubeconfigSecret))
			Expect(rig.Answers(ctx, secretData(ctx, namespace, field(o, "status", "kubeconfigSecret"))["kubeconfig"])).To(Succeed())
		}
	}, SpecTimeout(specLimit))

	It("are shown by kubectl", func(ctx SpecContext) {
		out, err := rig.Kubectl(ctx, "get", "cloudspaces.platform.kubeopera.io", "-n", namespace)
		Expect(err).NotTo(HaveOccurred())

		lines := strings.Split(strings.TrimSpace(out), "\n")
		Expect(lines).To(HaveLen(3), out)
		Expect(strings.Fields(lines[0])).To(ContainElements("NAME", "SYNCED", "READY", "PHASE", "SPACE", "AGE"))
	}, SpecTimeout(promptly))

	It("have an inner quota of their own, and their Tenants make none", func(ctx SpecContext) {
		l := &v1alpha1.TenantQuotaList{}
		Expect(cluster.Client.List(ctx, l, client.InNamespace(namespace))).To(Succeed())
		Expect(l.Items).To(HaveLen(2))

		for i := range l.Items {
			Expect(metav1.GetControllerOf(&l.Items[i])).To(HaveField("Kind", "CloudSpace"))
		}
	}, SpecTimeout(promptly))

	It("follow a changed quota", func(ctx SpecContext) {
		change(ctx, staging, map[string]any{"cpu": "3"})
		Eventually(ctx, func(ctx context.Context) string {
			return tenantOf(ctx, staging).Spec.Quota.CPU.String()
		}).WithTimeout(promptly).WithPolling(pollEvery).Should(Equal("3"))
		eventuallyReady(ctx, staging)
	}, SpecTimeout(specLimit))

	It("are refused another name", func(ctx SpecContext) {
		err := cluster.Client.Patch(ctx, staging.DeepCopy(), specPatch(map[string]any{"spaceName": "other"}))
		Expect(err).To(MatchError(ContainSubstring("spaceName is immutable")))
	}, SpecTimeout(promptly))

	It("go on as they are while the packages are upgraded", func(ctx SpecContext) {
		before := footprint(ctx, production)
		upgrade(ctx, os.Getenv("UPGRADE"))
		reconciled(ctx, production)
		Expect(footprint(ctx, production)).To(Equal(before))
	}, SpecTimeout(specLimit))

	It("go at once in the background, and their Tenants after them", func(ctx SpecContext) {
		t := tenantOf(ctx, staging)
		Expect(cluster.Client.Delete(ctx, staging)).To(Succeed())
		eventuallyGone(ctx, staging)
		eventuallyGone(ctx, t.DeepCopy())
		eventuallyNothingLeft(ctx, t)
	}, SpecTimeout(specLimit))

	It("go in the foreground after their Tenants, and leave nothing", func(ctx SpecContext) {
		t := tenantOf(ctx, production)
		Expect(cluster.Client.Delete(ctx, production, client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())
		eventuallyGone(ctx, production)
		expectNothingLeft(ctx, t)
	}, SpecTimeout(specLimit))
})

// specPatch changes fields of the spec and leaves the rest.
func specPatch(spec map[string]any) client.Patch {
	GinkgoHelper()

	raw, err := json.Marshal(map[string]any{"spec": spec})
	Expect(err).NotTo(HaveOccurred())

	return client.RawPatch(types.MergePatchType, raw)
}

func change(ctx context.Context, o *unstructured.Unstructured, spec map[string]any) {
	GinkgoHelper()
	Expect(cluster.Client.Patch(ctx, o, specPatch(spec))).To(Succeed())
}
