// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package crossplane

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

var kindComposite = schema.GroupVersionKind{Group: "claims.kubeopera.io", Version: "v1alpha1", Kind: "XCloudSpace"}

var _ = Describe("Claims", func() {
	Context("that are Ready", Ordered, ContinueOnFailure, func() {
		var (
			namespace     string
			first, second *unstructured.Unstructured
		)

		BeforeAll(func(ctx SpecContext) {
			namespace = newNamespace(ctx)
			first = applied(ctx, namespace, "claim", "claim.yaml")
			second = another(first, "second")
			apply(ctx, second)
			eventuallyReady(ctx, first)
			eventuallyReady(ctx, second)
		}, NodeTimeout(specLimit))

		It("have a connection Secret that opens the tenant", func(ctx SpecContext) {
			data := secretData(ctx, namespace, field(first, "spec", "writeConnectionSecretToRef", "name"))
			Expect(data).To(And(HaveKey("kubeconfig"), HaveKey("endpoint"), HaveKey("clusterCA"), HaveKey("clientCert"), HaveKey("clientKey")))
			Expect(rig.Answers(ctx, data["kubeconfig"])).To(Succeed())

			t := tenantOf(ctx, composite(ctx, first))
			Expect(t.GetNamespace()).To(Equal(namespace))
			Expect(string(data["endpoint"])).To(Equal(t.Status.Endpoint))
		}, SpecTimeout(specLimit))

		It("say where their CloudSpace stands", func() {
			Expect(field(first, "status", "phase")).To(Equal(string(v1alpha1.PhaseReady)))
			Expect(field(first, "status", "message")).To(HaveSuffix("ready"))
		})

		DescribeTable("stay until the tenant is gone",
			func(ctx SpecContext, claim func() *unstructured.Unstructured, how metav1.DeletionPropagation) {
				o := claim()
				xr := composite(ctx, o)
				t := tenantOf(ctx, xr)
				Expect(cluster.Client.Delete(ctx, o, client.PropagationPolicy(how))).To(Succeed())
				eventuallyGone(ctx, o)
				// Nothing is waited for from here on.
				Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(xr), xr)).To(MatchError(kerrors.IsNotFound, "not found"))
				expectNothingLeft(ctx, t)
			},
			Entry("deleted in the background, as kubectl does", func() *unstructured.Unstructured { return first }, metav1.DeletePropagationBackground, SpecTimeout(specLimit)),
			Entry("deleted in the foreground", func() *unstructured.Unstructured { return second }, metav1.DeletePropagationForeground, SpecTimeout(specLimit)),
		)
	})

	It("leave nothing when they are deleted while they are provisioned", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		claim := applied(ctx, namespace, "claim", "claim.yaml")
		t := theTenant(ctx, namespace)
		Eventually(ctx, func(ctx context.Context) (v1alpha1.TenantPhase, error) {
			err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(t), t)
			return t.Status.Phase, err
		}).WithTimeout(promptly).WithPolling(pollEvery).Should(Equal(v1alpha1.PhaseProvisioning))

		Expect(cluster.Client.Delete(ctx, claim)).To(Succeed())
		eventuallyGone(ctx, claim)
		expectNothingLeft(ctx, t)
	}, SpecTimeout(specLimit))

	It("leave nothing when they are deleted before anything came of them", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		claim := applied(ctx, namespace, "claim", "claim.yaml")
		Expect(cluster.Client.Delete(ctx, claim)).To(Succeed())
		eventuallyGone(ctx, claim)
		Eventually(ctx, func() []v1alpha1.Tenant { return tenantsOf(ctx, namespace) }).WithTimeout(goneLimit).WithPolling(pollEvery).Should(BeEmpty())
	}, SpecTimeout(specLimit))
})

// composite is the XCloudSpace of the claim.
func composite(ctx context.Context, claim *unstructured.Unstructured) *unstructured.Unstructured {
	GinkgoHelper()

	xr := &unstructured.Unstructured{}
	xr.SetGroupVersionKind(kindComposite)
	Expect(cluster.Client.Get(ctx, client.ObjectKey{Name: field(claim, "spec", "resourceRef", "name")}, xr)).To(Succeed())

	return xr
}

// another is a claim like it, for a second CloudSpace.
func another(claim *unstructured.Unstructured, name string) *unstructured.Unstructured {
	GinkgoHelper()

	o := claim.DeepCopy()
	o.SetName(name)
	Expect(unstructured.SetNestedField(o.Object, "alice-"+name, "spec", "spaceName")).To(Succeed())
	Expect(unstructured.SetNestedField(o.Object, name+"-connection", "spec", "writeConnectionSecretToRef", "name")).To(Succeed())

	return o
}
