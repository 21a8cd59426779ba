// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

const (
	// exampleAdvisor is the image of examples/advisoragent.
	exampleAdvisor = "ghcr.io/kubeopera/app-advisor:v1.0.0"
	// registryAddress is the test bed's registry.
	registryAddress = "10.89.0.1:5000"
)

var _ = Describe("The Tenant of examples/tenant with the objects of examples/advisoragent and examples/tenantquota", Ordered, func() {
	var (
		named = func(name string) metav1.ObjectMeta {
			return metav1.ObjectMeta{Namespace: rig.Namespace, Name: name}
		}
		c     = &cloudSpace{t: &v1alpha1.Tenant{ObjectMeta: named("alice-default")}}
		agent = &v1alpha1.AdvisorAgent{ObjectMeta: named("alice-advisor")}
		quota = &v1alpha1.TenantQuota{ObjectMeta: named("alice-quota")}
	)

	BeforeAll(func(ctx SpecContext) {
		serveAs(ctx, exampleAdvisor)

		for file, o := range map[string]client.Object{
			"advisoragent/agent.yaml": agent, "tenantquota/quota.yaml": quota, "tenant/tenant.yaml": c.t,
		} {
			_, err := rig.Kubectl(ctx, "apply", "-f", filepath.Join(root, "examples", file))
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(func(ctx SpecContext) { removeAndWait(ctx, o) }, NodeTimeout(cleanupLimit))
		}

		eventually(ctx, c.t, readyLimit, And(beReady(), say(messageWhole)))
		c.enter(ctx)
	}, NodeTimeout(specLimit))

	It("makes none of its own, and is Ready by them", func(ctx SpecContext) {
		Expect(beside(ctx)).To(ConsistOf("AdvisorAgent alice-advisor", "TenantQuota alice-quota"))

		eventuallyReadyAgent(ctx, agent, exampleAdvisor)
		Expect(c.askAdvisor(ctx, agent).Environment).To(Equal(map[string]string{"ADVISOR_LOG_LEVEL": "info"}))

		Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(quota), quota)).To(Succeed())
		Expect(quota.Spec.Namespaces).To(ConsistOf("default", "team-a"))

		for _, ns := range quota.Spec.Namespaces {
			l := &corev1.ResourceQuotaList{}
			Expect(c.in.List(ctx, l, client.InNamespace(ns))).To(Succeed())
			Expect(l.Items).To(ConsistOf(HaveField("Spec.Hard", BeComparableTo(quota.Spec.Hard))))
		}

		By("looking at what is left for its workloads")
		eventuallyFree(ctx, c, c.t.Status.Quota.Workloads)
	}, SpecTimeout(specLimit))

	It("makes its own when they are deleted", func(ctx SpecContext) {
		removeAndWait(ctx, agent)
		removeAndWait(ctx, quota)
		Eventually(ctx, beside).WithTimeout(promptly).WithPolling(pollEvery).Should(ConsistOf("AdvisorAgent alice-default", "TenantQuota alice-default"))
		eventually(ctx, c.t, readyLimit, And(beReady(), say(messageWhole)))
		eventuallyReadyAgent(ctx, c.agent(ctx), rig.FakeAdvisorImage)
		Expect(c.askAdvisor(ctx, c.agent(ctx)).Environment).To(BeEmpty())
		Expect(c.innerQuota(ctx).Spec.Hard).To(BeComparableTo(c.t.Status.Quota.Workloads))
		eventuallyFree(ctx, c, c.t.Status.Quota.Workloads)

		removeAndWait(ctx, c.t)
		expectNothingLeft(ctx, c.t)
	}, SpecTimeout(specLimit))
})

// beside are the AdvisorAgents and TenantQuotas in the namespace of the examples.
func beside(ctx context.Context) ([]string, error) {
	agents, quotas := &v1alpha1.AdvisorAgentList{}, &v1alpha1.TenantQuotaList{}
	for _, l := range []client.ObjectList{agents, quotas} {
		if err := cluster.Client.List(ctx, l, client.InNamespace(rig.Namespace)); err != nil {
			return nil, err
		}
	}

	var out []string
	for i := range agents.Items {
		out = append(out, "AdvisorAgent "+agents.Items[i].GetName())
	}

	for i := range quotas.Items {
		out = append(out, "TenantQuota "+quotas.Items[i].GetName())
	}

	return out, nil
}

// serveAs has the test bed's registry serve the stand-in of the App Advisor under
// that name.
func serveAs(ctx context.Context, image string) {
	GinkgoHelper()

	from, err := name.ParseReference(rig.FakeAdvisorImage)
	Expect(err).NotTo(HaveOccurred())
	to, err := name.ParseReference(image)
	Expect(err).NotTo(HaveOccurred())

	registry, err := name.NewRegistry(registryAddress, name.Insecure)
	Expect(err).NotTo(HaveOccurred())

	have, err := remote.Image(registry.Repo(from.Context().RepositoryStr()).Tag(from.Identifier()), remote.WithContext(ctx))
	Expect(err).NotTo(HaveOccurred())
	Expect(remote.Write(registry.Repo(to.Context().RepositoryStr()).Tag(to.Identifier()), have, remote.WithContext(ctx))).To(Succeed())
}
