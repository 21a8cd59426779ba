// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

var _ = Describe("A Tenant that asks for another one's name", func() {
	It("K6: is refused with the name of the first, which is unharmed", func(ctx SpecContext) {
		home, elsewhere := newNamespace(ctx), newNamespace(ctx)
		first := newReady(ctx, home, "first")
		firstKey := client.ObjectKeyFromObject(first).String()
		before := imprintOf(ctx, first)

		rivals := map[string]*v1alpha1.Tenant{
			"same tenantName in another namespace":   rig.NewTenant(elsewhere, "rival"),
			"same cloudSpaceID in its own namespace": rig.NewTenant(home, "rival"),
			"same cloudSpaceID in another namespace": rig.NewTenant(elsewhere, "rival"),
		}
		for what, rival := range rivals {
			if what == "same tenantName in another namespace" {
				rival.Spec.TenantName = first.Spec.TenantName
			} else {
				rival.Spec.CloudSpaceID = first.Spec.CloudSpaceID
			}

			create(ctx, rival)
		}

		refused := And(bePhase(v1alpha1.PhaseFailed), say(firstKey))
		for what, rival := range rivals {
			By("refusing the " + what)
			eventually(ctx, rival, phaseLimit, refused)
		}

		consistently(ctx, first, beReady())
		Expect(imprintOf(ctx, first)).To(Equal(before))

		for what, rival := range rivals {
			By("deleting the one with the " + what)
			eventually(ctx, rival, phaseLimit, refused)
			removeAndWait(ctx, rival)
		}

		consistently(ctx, first, beReady())
		Expect(imprintOf(ctx, first)).To(Equal(before))
		Expect(rig.Answers(ctx, secretOf(ctx, first).Data[secretKey])).To(Succeed())
	}, SpecTimeout(specLimit))
})

// imprint is what must not change of a Tenant that is left alone.
type imprint struct {
	secret, namespace string // UID and version
	kubeconfig        string
	records           []string
}

func imprintOf(ctx context.Context, t *v1alpha1.Tenant) imprint {
	GinkgoHelper()

	ns := &corev1.Namespace{}
	Expect(cluster.Client.Get(ctx, client.ObjectKey{Name: namespaceOf(t)}, ns)).To(Succeed())

	s := secretOf(ctx, t)
	out := imprint{secret: version(s), namespace: version(ns), kubeconfig: string(s.Data[secretKey])}

	for _, r := range records(ctx, t) {
		out.records = append(out.records, version(&r))
	}

	return out
}

func version(o client.Object) string {
	return o.GetName() + " " + string(o.GetUID()) + " " + o.GetResourceVersion()
}
