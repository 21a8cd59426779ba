// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"net/http"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/report"
)

const (
	// clientID and clientSecret are the provider's own at kubeopera-api.
	clientID     = "e2e-provider"
	clientSecret = "Never/to be+seen:anywhere"
	// deliveryLimit holds the pause after many failures, a minute, and a hang.
	deliveryLimit = 90 * time.Second
)

var _ = Describe("The reports of a Tenant to kubeopera-api", Ordered, func() {
	var (
		t *v1alpha1.Tenant
		// active is how often it has reported so. One too many shows in the next spec.
		active int
	)

	BeforeAll(func(ctx SpecContext) {
		DeferCleanup(func(ctx SpecContext) { Expect(kubeopera.Up(ctx)).To(Succeed()) })
		Expect(kubeopera.Down()).To(Succeed())

		t = rig.NewTenant(newNamespace(ctx), "told")
		create(ctx, t)
	}, NodeTimeout(phaseLimit))

	It("R3: wait while kubeopera-api is down, and do not hold the Tenant back", func(ctx SpecContext) {
		eventually(ctx, t, readyLimit, beReady())
		eventually(ctx, t, phaseLimit, haveCondition(v1alpha1.TypeReported, corev1.ConditionFalse, v1alpha1.ReasonFailed, "kubeopera-api", "refused"))
		Expect(t).To(beReady())
		Expect(t.Status.Report).To(HaveValue(And(HaveField("Status", v1alpha1.ReportActive), HaveField("AcceptedAt", BeNil()))))

		By("starting kubeopera-api")
		before := kubeopera.Attempts()
		Expect(kubeopera.Up(ctx)).To(Succeed())
		active++
		expectActive(ctx, t, active)
		Expect(kubeopera.Attempts().Puts).To(Equal(before.Puts + 1))
	}, SpecTimeout(specLimit))

	DescribeTable("arrive once, whatever kubeopera-api does",
		func(ctx SpecContext, trouble func(), asked rig.FakeAttempts, least time.Duration) {
			before, start := kubeopera.Attempts(), time.Now()

			trouble()
			renew(ctx, t)

			active++
			expectActive(ctx, t, active)
			Expect(time.Since(start)).To(BeNumerically(">=", least))
			Expect(kubeopera.Faults()).To(BeZero())
			Expect(kubeopera.Attempts()).To(Equal(rig.FakeAttempts{
				Puts: before.Puts + asked.Puts, Repeats: before.Repeats + asked.Repeats,
				Tokens: before.Tokens + asked.Tokens, Unauthorized: before.Unauthorized + asked.Unauthorized,
			}))
		},
		Entry("R3: 401, expired tokens", func() { kubeopera.ExpireTokens() },
			rig.FakeAttempts{Puts: 2, Tokens: 1, Unauthorized: 1}, time.Duration(0), SpecTimeout(specLimit)),
		Entry("R3: 429 with Retry-After", func() { kubeopera.Fail(1, rig.FakeFault{Code: http.StatusTooManyRequests, RetryAfter: "4"}) },
			rig.FakeAttempts{Puts: 2}, 4*time.Second, SpecTimeout(specLimit)),
		Entry("R3: 500, three times", func() { kubeopera.Fail(3, rig.FakeFault{Code: http.StatusInternalServerError}) },
			rig.FakeAttempts{Puts: 4}, time.Duration(0), SpecTimeout(specLimit)),
		Entry("R3: 404", func() { kubeopera.Fail(1, rig.FakeFault{Code: http.StatusNotFound}) },
			rig.FakeAttempts{Puts: 2}, time.Duration(0), SpecTimeout(specLimit)),
		Entry("R3: a hang", func() { kubeopera.Fail(1, rig.FakeFault{Hang: true}) },
			rig.FakeAttempts{Puts: 2}, time.Duration(0), SpecTimeout(specLimit)),
		// The first time Go itself tries again, on a new connection.
		Entry("R3: a cut connection", func() { kubeopera.Fail(2, rig.FakeFault{Cut: true}) },
			rig.FakeAttempts{Puts: 3}, time.Duration(0), SpecTimeout(specLimit)),
		Entry("R3: a connection that is cut after the report was recorded", func() { kubeopera.Fail(2, rig.FakeFault{Cut: true, Record: true}) },
			rig.FakeAttempts{Puts: 3, Repeats: 2}, time.Duration(0), SpecTimeout(specLimit)),
	)

	It("survive a restart of the provider, and its death", func(ctx SpecContext) {
		DeferCleanup(func(ctx SpecContext) {
			Expect(provider.Stop()).To(Succeed())
			Expect(provider.Start(ctx)).To(Succeed())
		}, NodeTimeout(cleanupLimit))

		for what, end := range map[string]func() error{"stopping": provider.Stop, "killing": provider.Kill} {
			By(what + " the provider while a report is open")
			Expect(kubeopera.Down()).To(Succeed())
			renew(ctx, t)
			eventually(ctx, t, phaseLimit, haveCondition(v1alpha1.TypeReported, corev1.ConditionFalse, v1alpha1.ReasonFailed))
			Expect(end()).To(Succeed())
			Expect(kubeopera.Up(ctx)).To(Succeed())
			Expect(provider.Start(ctx)).To(Succeed())

			active++
			expectActive(ctx, t, active)
		}
	}, SpecTimeout(specLimit))

	It("R3: are closed although kubeopera-api is down when the Tenant goes", func(ctx SpecContext) {
		Expect(kubeopera.Down()).To(Succeed())
		removeAndWait(ctx, t)
		Expect(outbox(ctx, t)).To(HaveLen(1))

		By("starting kubeopera-api")
		Expect(kubeopera.Up(ctx)).To(Succeed())
		Eventually(ctx, kubeopera.Statuses).WithArguments(t.Spec.CloudSpaceID).WithTimeout(deliveryLimit).WithPolling(pollEvery).
			Should(HaveExactElements(append(actives(active), v1alpha1.ReportDeleted)))
		Eventually(ctx, outbox).WithArguments(t).WithTimeout(promptly).WithPolling(pollEvery).Should(BeEmpty())
		expectNothingLeft(ctx, t)
		Consistently(ctx, kubeopera.Statuses).WithArguments(t.Spec.CloudSpaceID).WithTimeout(stableFor).WithPolling(pollEvery).
			Should(HaveLen(active + 1))
	}, SpecTimeout(specLimit))
})

// renew changes the Tenant's spec so that there is something to report, and
// nothing else to do: it has no App Advisor.
func renew(ctx context.Context, t *v1alpha1.Tenant) {
	GinkgoHelper()

	Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(t), t)).To(Succeed())
	patch(ctx, t, func(t *v1alpha1.Tenant) { t.Spec.Advisor.Replicas = ptr.To(1 - ptr.Deref(t.Spec.Advisor.Replicas, 1)) })
}

// actives are so many reports that a Tenant is active.
func actives(n int) []v1alpha1.ReportState {
	return slices.Repeat([]v1alpha1.ReportState{v1alpha1.ReportActive}, n)
}

// expectActive waits until the Tenant's state has arrived, and proves that it has
// reported that it is active, so many times in all, and nothing else. The last was
// for the spec as it is now.
func expectActive(ctx context.Context, t *v1alpha1.Tenant, times int) {
	GinkgoHelper()

	eventually(ctx, t, deliveryLimit, And(beReady(), beReported()))
	Expect(kubeopera.Statuses(t.Spec.CloudSpaceID)).To(HaveExactElements(actives(times)))

	last := kubeopera.Reports(t.Spec.CloudSpaceID)[times-1]
	Expect(last.Generation).To(Equal(t.GetGeneration()))
	Expect(last.VClusterName).To(Equal(releaseOf(t)))
	Expect(last.Message).To(Equal(t.Status.Message))
}

// beReported matches a Tenant whose newest state kubeopera-api has accepted.
func beReported() gomegatypes.GomegaMatcher {
	return And(
		haveCondition(v1alpha1.TypeReported, corev1.ConditionTrue, v1alpha1.ReasonDone),
		WithTransform(func(t *v1alpha1.Tenant) bool {
			r := t.Status.Report
			return r != nil && r.Generation == t.GetGeneration() && r.AcceptedAt != nil
		}, BeTrue()),
	)
}

// outbox are the reports of the Tenant that outlive it.
func outbox(ctx context.Context, t *v1alpha1.Tenant) ([]corev1.ConfigMap, error) {
	l := &corev1.ConfigMapList{}
	err := cluster.Client.List(ctx, l, client.InNamespace(rig.Namespace), client.HasLabels{report.LabelReport},
		client.MatchingLabels{v1alpha1.LabelTenantID: t.Spec.CloudSpaceID})

	return l.Items, err
}
