// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

var _ = Describe("A Tenant whose namespace cannot go", func() {
	It("D1: stays Deleting, names what holds it, and goes when that is released", func(ctx SpecContext) {
		const hold = "e2e.kubeopera.io/hold"

		t := newReady(ctx, newNamespace(ctx), "held")
		claim := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespaceOf(t), Name: "precious", Finalizers: []string{hold}},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}},
			},
		}
		release := func(ctx SpecContext) {
			before := claim.DeepCopy()
			claim.SetFinalizers(nil)
			Expect(client.IgnoreNotFound(cluster.Client.Patch(ctx, claim, client.MergeFrom(before)))).To(Succeed())
		}
		Expect(cluster.Client.Create(ctx, claim)).To(Succeed())
		DeferCleanup(release, NodeTimeout(cleanupLimit))

		By("deleting the Tenant")
		Expect(cluster.Client.Delete(ctx, t)).To(Succeed())
		blocked := And(bePhase(v1alpha1.PhaseDeleting), say("PersistentVolumeClaim precious, finalizer "+hold))
		eventually(ctx, t, goneLimit, blocked)
		consistently(ctx, t, blocked)
		Expect(cluster.Client.Get(ctx, publishedKey(t), &corev1.Secret{})).To(Succeed(), "the kubeconfig Secret goes last")
		Expect(records(ctx, t)).To(BeEmpty())

		By("releasing the claim")
		release(ctx)
		eventuallyGone(ctx, t)
		expectNothingLeft(ctx, t)
	}, SpecTimeout(specLimit))
})
