// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

const (
	// tries to kill the provider within the half second of an install.
	tries = 5
	// recoveryLimit holds the 90 s for which a pending revision may have a living writer.
	recoveryLimit = 4 * time.Minute
)

var _ = Describe("A provider that is killed in the middle of an install", func() {
	It("makes the Tenant Ready when it is started again", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		t := interruptedInstall(ctx, namespace)

		By("starting the provider again")
		Expect(provider.Start(ctx)).To(Succeed())
		eventually(ctx, t, recoveryLimit, beReady())
		Expect(rig.Answers(ctx, secretOf(ctx, t).Data[secretKey])).To(Succeed())
		Expect(meta.ExternalCreateIncomplete(t)).To(BeFalse())
		for _, r := range records(ctx, t) {
			Expect(r.GetLabels()[labelStatus]).NotTo(Equal(statusPending), r.GetName())
		}

		removeAndWait(ctx, t)
		expectNothingLeft(ctx, t)
	}, SpecTimeout(recoveryLimit+specLimit))
})

// interruptedInstall is a Tenant whose install was cut off by the end of the
// provider, which stays dead. Whoever looks may be too late, and tries again.
func interruptedInstall(ctx context.Context, namespace string) *v1alpha1.Tenant {
	GinkgoHelper()
	// Whatever happens here, the specs that follow need a provider.
	DeferCleanup(func(ctx SpecContext) {
		Expect(provider.Stop()).To(Succeed())
		Expect(provider.Start(ctx)).To(Succeed())
	}, NodeTimeout(cleanupLimit))

	for range tries {
		t := rig.NewTenant(namespace, "cut")
		pending := record(ctx, &corev1.SecretList{}, client.MatchingLabels{labelOwner: ownerHelm, labelStatus: statusPending})
		create(ctx, t)
		Eventually(ctx, pending.all).WithTimeout(phaseLimit).WithPolling(time.Millisecond).
			Should(ContainElement(HaveField("Object", WithTransform(client.Object.GetNamespace, Equal(namespaceOf(t))))))
		Expect(provider.Kill()).To(Succeed())

		if s := records(ctx, t); len(s) == 1 && s[0].GetLabels()[labelStatus] == statusPending {
			return t
		}

		By("trying again, the install was faster")
		Expect(provider.Start(ctx)).To(Succeed())
	}

	Fail("the install was never caught in the middle")

	return nil
}
