// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/providerconfig"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

var _ = Describe("Pause and policies of a Tenant", func() {
	It("R9: pauses what it made with it, and goes on where it was", func(ctx SpecContext) {
		t := newReady(ctx, newNamespace(ctx), "paused")
		hard := wallOf(ctx, t).Spec.Hard

		annotate(ctx, t, meta.AnnotationKeyReconciliationPaused, "true")
		eventually(ctx, t, phaseLimit, haveCondition(xpv2.TypeSynced, corev1.ConditionFalse, xpv2.ReasonReconcilePaused))
		eventuallyQuota(ctx, t, beSynced(corev1.ConditionFalse, xpv2.ReasonReconcilePaused))

		By("changing what is to be")
		patch(ctx, t, func(t *v1alpha1.Tenant) { t.Spec.Quota.CPU = ptr.To(apiresource.MustParse("7")) })
		consistently(ctx, t, haveCondition(xpv2.TypeSynced, corev1.ConditionFalse, xpv2.ReasonReconcilePaused))
		Expect(wallOf(ctx, t).Spec.Hard).To(BeComparableTo(hard))

		annotate(ctx, t, meta.AnnotationKeyReconciliationPaused, "")
		eventually(ctx, t, readyLimit, And(beReady(), Not(say("a change waits"))))
		Expect(wallOf(ctx, t).Spec.Hard).NotTo(BeComparableTo(hard))
		eventuallyQuota(ctx, t, And(beSynced(corev1.ConditionTrue, xpv2.ReasonReconcileSuccess), haveHard("7")))
		removeAndWait(ctx, t)
		expectNothingLeft(ctx, t)
	}, SpecTimeout(specLimit))

	It("R9: makes all of it without the policy Update, and then changes nothing", func(ctx SpecContext) {
		t := rig.NewTenant(newNamespace(ctx), "created")
		t.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionDelete})
		create(ctx, t)
		eventually(ctx, t, readyLimit, beReady())
		Expect(rig.Answers(ctx, secretOf(ctx, t).Data[secretKey])).To(Succeed())

		hard, before := wallOf(ctx, t).Spec.Hard, counters(ctx)

		patch(ctx, t, func(t *v1alpha1.Tenant) {
			t.Spec.Quota.CPU = ptr.To(apiresource.MustParse("7"))
			t.Spec.VCluster = &v1alpha1.VClusterSpec{ValuesOverrides: values(`{"logging":{"encoding":"json"}}`)}
		})
		waits := And(beReady(), say("a change waits", "without Update"))
		eventually(ctx, t, phaseLimit, waits)
		consistently(ctx, t, waits)
		Expect(wallOf(ctx, t).Spec.Hard).To(BeComparableTo(hard))
		expectStill(ctx, before)

		removeAndWait(ctx, t)
		expectNothingLeft(ctx, t)
	}, SpecTimeout(specLimit))

	It("D3: goes with its whole namespace, its ProviderConfig and the credentials of that", func(ctx SpecContext) {
		t, pc := withOwnHost(ctx)

		By("deleting the ProviderConfig, which is in use")
		Expect(cluster.Client.Delete(ctx, pc)).To(Succeed())
		Eventually(ctx, func(ctx context.Context) (xpv2.Condition, error) {
			err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(pc), pc)
			return pc.GetCondition(providerconfig.TypeTerminating), err
		}).WithTimeout(phaseLimit).WithPolling(pollEvery).Should(HaveField("Reason", providerconfig.ReasonInUse))
		consistently(ctx, t, beReady())

		By("deleting the namespace")
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: t.GetNamespace()}}
		removeAndWait(ctx, ns)
		expectNothingLeft(ctx, t)
	}, SpecTimeout(specLimit))
})

var _ = Describe("A ProviderConfig that is deleted while it is in use", func() {
	It("D10: goes with the last Tenant that uses it", func(ctx SpecContext) {
		t, pc := withOwnHost(ctx)

		usages := &v1alpha1.ProviderConfigUsageList{}
		Expect(cluster.Client.List(ctx, usages, client.InNamespace(t.GetNamespace()))).To(Succeed())
		Expect(usages.Items).To(HaveLen(1))

		Expect(cluster.Client.Delete(ctx, pc)).To(Succeed())
		consistently(ctx, t, beReady())
		Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(pc), pc)).To(Succeed(), "it is in use")

		removeAndWait(ctx, t)
		eventuallyGone(ctx, pc)
		expectNothingLeft(ctx, t)
	}, SpecTimeout(specLimit))
})

// withOwnHost is a Tenant that is Ready by a ProviderConfig of its namespace.
func withOwnHost(ctx context.Context) (*v1alpha1.Tenant, *v1alpha1.ProviderConfig) {
	GinkgoHelper()

	in := metav1.ObjectMeta{Namespace: newNamespace(ctx), Name: "host"}
	kubeconfig, err := cluster.ProviderKubeconfig(ctx)
	Expect(err).NotTo(HaveOccurred())
	Expect(cluster.Client.Create(ctx, &corev1.Secret{ObjectMeta: in, Data: map[string][]byte{secretKey: kubeconfig}})).To(Succeed())

	pc := &v1alpha1.ProviderConfig{ObjectMeta: in}
	pc.Spec.Credentials.Source = xpv2.CredentialsSourceSecret
	pc.Spec.Credentials.SecretRef = &xpv2.LocalSecretKeySelector{Key: secretKey}
	pc.Spec.Credentials.SecretRef.Name = in.Name
	pc.Spec.Chart = &v1alpha1.LocalChartSource{Chart: v1alpha1.Chart{Repository: rig.ChartRepository, Version: rig.ChartVersion, PlainHTTP: true}}
	Expect(cluster.Client.Create(ctx, pc)).To(Succeed())

	t := rig.NewTenant(in.Namespace, "own")
	t.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: in.Name})
	create(ctx, t)
	eventually(ctx, t, readyLimit, beReady())

	return t, pc
}

// eventuallyQuota waits until the TenantQuota that the Tenant has made is as wanted.
func eventuallyQuota(ctx context.Context, t *v1alpha1.Tenant, want gomegatypes.GomegaMatcher) {
	GinkgoHelper()

	Eventually(ctx, func(ctx context.Context) (*v1alpha1.TenantQuota, error) {
		q := &v1alpha1.TenantQuota{}
		return q, cluster.Client.Get(ctx, client.ObjectKeyFromObject(t), q)
	}).WithTimeout(phaseLimit).WithPolling(pollEvery).Should(want)
}

// beSynced matches an object by its condition Synced.
func beSynced(s corev1.ConditionStatus, r xpv2.ConditionReason) gomegatypes.GomegaMatcher {
	return WithTransform(func(mg resource.Managed) xpv2.Condition { return mg.GetCondition(xpv2.TypeSynced) }, And(HaveField("Status", s), HaveField("Reason", r)))
}

// haveHard matches a TenantQuota by the CPUs that it allows.
func haveHard(cpu string) gomegatypes.GomegaMatcher {
	return WithTransform(func(q *v1alpha1.TenantQuota) string {
		c := q.Spec.Hard[corev1.ResourceLimitsCPU]
		return c.String()
	}, Equal(cpu))
}
