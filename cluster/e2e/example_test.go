// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"path/filepath"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

var _ = Describe("The Tenant of examples/tenant", Ordered, ContinueOnFailure, func() {
	var (
		c      = &cloudSpace{t: &v1alpha1.Tenant{ObjectMeta: metav1.ObjectMeta{Namespace: rig.Namespace, Name: "alice-default"}}}
		seen   *recorder
		before stageSums
		// already are the reports of an earlier Tenant of that id.
		already int
	)

	BeforeAll(func(ctx SpecContext) {
		// It lives as long as the whole container.
		seen = record(context.WithoutCancel(ctx), &v1alpha1.TenantList{}, client.InNamespace(rig.Namespace))
		before, already = stageSeconds(ctx), len(kubeopera.Reports("7e9d3a1b-0000-4000-8000-000000000002"))
		_, err := rig.Kubectl(ctx, "apply", "-f", filepath.Join(root, "examples", "tenant", "tenant.yaml"))
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) { removeAndWait(ctx, c.t) }, NodeTimeout(cleanupLimit))

		eventually(ctx, c.t, readyLimit, beReady())
		c.enter(ctx)
	}, NodeTimeout(specLimit))

	It("passes from Pending over Provisioning and InstallingFlux to Ready", func(ctx SpecContext) {
		Eventually(ctx, seen.phases).WithTimeout(promptly).WithPolling(pollEvery).Should(HaveExactElements(
			v1alpha1.PhasePending, v1alpha1.PhaseProvisioning, v1alpha1.PhaseInstallingFlux, v1alpha1.PhaseReady))
		Expect(c.t.Status.Message).To(Equal(messageWhole))
		Expect(c.t.Status.VClusterName).To(Equal("vc-alice-default"))
		Expect(c.t.Status.Namespace).To(Equal("vcluster-alice-default"))
		Expect(c.t.Status.KubeconfigSecret).To(Equal("tenant-7e9d3a1b-0000-4000-8000-000000000002-kubeconfig"))
	}, SpecTimeout(specLimit))

	It("tells how long each stage took", func(ctx SpecContext) {
		AddReportEntry("how long each stage took", stageSeconds(ctx).since(before))
		AddReportEntry("when each condition was seen to become true", seen.firsts(c.t.GetName()))
	}, SpecTimeout(phaseLimit))

	It("is complete in every stage, and reported", func(ctx SpecContext) {
		eventually(ctx, c.t, phaseLimit, beReported())

		for _, stage := range []xpv2.ConditionType{
			v1alpha1.TypeBoundaryReady, v1alpha1.TypeReleaseDeployed, v1alpha1.TypeAPIReachable, v1alpha1.TypeKubeconfigPublished,
			v1alpha1.TypeDNSReady, v1alpha1.TypeFluxReady, v1alpha1.TypeQuotaApplied, v1alpha1.TypeAdvisorReady,
		} {
			Expect(c.t).To(haveCondition(stage, corev1.ConditionTrue, v1alpha1.ReasonDone), string(stage))
		}

		Expect(kubeopera.Statuses(c.t.Spec.CloudSpaceID)[already:]).To(HaveExactElements(v1alpha1.ReportProvisioning, v1alpha1.ReportActive))
	}, SpecTimeout(phaseLimit))

	It("is shown by kubectl with its phase and its vCluster", func(ctx SpecContext) {
		out, err := rig.Kubectl(ctx, "get", "kt", "-n", rig.Namespace)
		Expect(err).NotTo(HaveOccurred())

		lines := strings.Split(strings.TrimSpace(out), "\n")
		Expect(lines).To(HaveLen(2), out)
		Expect(strings.Fields(lines[0])).To(Equal([]string{"NAME", "READY", "SYNCED", "PHASE", "VCLUSTER", "AGE"}))
		Expect(strings.Fields(lines[1])[:5]).To(Equal([]string{"alice-default", "True", "True", "Ready", "vc-alice-default"}))
	}, SpecTimeout(phaseLimit))

	It("publishes its kubeconfig in a labelled Secret", func(ctx SpecContext) {
		s := secretOf(ctx, c.t)
		Expect(s.GetLabels()).To(HaveKeyWithValue("kubeopera.io/tenant-id", c.t.Spec.CloudSpaceID))
		Expect(s.GetLabels()).To(HaveKeyWithValue("kubeopera.io/managed-by", "tenant-controller"))
		Expect(s.Data).To(HaveLen(1))
		Expect(rig.Answers(ctx, s.Data[secretKey])).To(Succeed())
	}, SpecTimeout(phaseLimit))

	itRunsPods(c)
	itFollowsGit(c)
	itHasAnAdvisor(c)

	It("D6: goes in order, and is there until the last of what it made is gone", func(ctx SpecContext) {
		phases := append(seen.phases(), v1alpha1.PhaseDeleting)
		expectDeletionInOrder(ctx, c, seen)
		Expect(seen.phases()).To(Equal(phases))
		Eventually(ctx, func() []v1alpha1.ReportState {
			all := kubeopera.Statuses(c.t.Spec.CloudSpaceID)
			return all[len(all)-3:]
		}).WithTimeout(promptly).WithPolling(pollEvery).Should(HaveExactElements(
			v1alpha1.ReportActive, v1alpha1.ReportDeleting, v1alpha1.ReportDeleted))
		expectNothingLeft(ctx, c.t)
	}, SpecTimeout(specLimit))
})
