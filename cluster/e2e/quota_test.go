// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// defaultQuota is what the workloads of a Tenant may use that names no quota.
var defaultQuota = corev1.ResourceList{
	corev1.ResourceRequestsCPU:    resource.MustParse("2"),
	corev1.ResourceLimitsCPU:      resource.MustParse("2"),
	corev1.ResourceRequestsMemory: resource.MustParse("4Gi"),
	corev1.ResourceLimitsMemory:   resource.MustParse("4Gi"),
}

const exceeded = "exceeded quota"

func itLeavesItsQuotaToItsWorkloads(c *cloudSpace) {
	It("Q1, Q3: leaves its workloads exactly their quota while all of the platform runs", func(ctx SpecContext) {
		eventuallyFree(ctx, c, defaultQuota)
		Consistently(ctx, c.free).WithTimeout(stableFor).WithPolling(pollEvery).Should(BeComparableTo(defaultQuota))

		By("comparing with what the Tenant says")
		eventually(ctx, c.t, phaseLimit, showQuota(wallOf(ctx, c.t)))
		Expect(c.t.Status.Quota.Workloads).To(BeComparableTo(defaultQuota))
		Expect(c.t.Status.Quota.Platform).To(BeComparableTo(pick(c.t.Status.Quota.Used)), "all that the platform may use, it uses")
	}, SpecTimeout(specLimit))

	It("runs a pod that takes all of it", func(ctx SpecContext) {
		all := limitedPod(metav1.NamespaceDefault, "all", "2", "4Gi")
		eventuallyPod(ctx, c.in, all, corev1.PodRunning)

		wall := wallOf(ctx, c.t)
		for _, name := range []corev1.ResourceName{corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory} {
			Expect(wall.Status.Used[name]).To(BeComparableTo(wall.Spec.Hard[name]), "%s", name)
		}

		By("removing it")
		Expect(c.in.Delete(ctx, all)).To(Succeed())
		eventuallyFree(ctx, c, defaultQuota)
	}, SpecTimeout(specLimit))

	It("refuses a pod that is too large, in the tenant", func(ctx SpecContext) {
		err := c.in.Create(ctx, limitedPod(metav1.NamespaceDefault, "large", "2100m", "1Gi"))
		Expect(err).To(MatchError(kerrors.IsForbidden, "forbidden"))
		Expect(err).To(MatchError(And(ContainSubstring(exceeded), ContainSubstring(c.innerQuota(ctx).GetName()), ContainSubstring("limits.cpu"))))
	}, SpecTimeout(specLimit))

	It("Q6: walls in the sum over all namespaces when the tenant's admin deletes the inner quota", func(ctx SpecContext) {
		inner := c.innerQuota(ctx)
		c.kubectl(ctx, "delete", "resourcequota", inner.GetName())

		pods := map[string]*corev1.Pod{}
		for _, ns := range []string{metav1.NamespaceDefault, "east", "west"} {
			if ns != metav1.NamespaceDefault {
				c.kubectl(ctx, "create", "namespace", ns)
			}

			pods[ns] = limitedPod(ns, "part", "1", "2Gi")
		}

		eventuallyPod(ctx, c.in, pods[metav1.NamespaceDefault], corev1.PodRunning)
		eventuallyPod(ctx, c.in, pods["east"], corev1.PodRunning)
		eventuallyPod(ctx, c.in, pods["west"], corev1.PodPending)
		Eventually(ctx, func(ctx context.Context) ([]corev1.Event, error) {
			l := &corev1.EventList{}
			return l.Items, c.in.List(ctx, l, client.InNamespace("west"))
		}).WithTimeout(phaseLimit).WithPolling(pollEvery).Should(ContainElement(HaveField("Message", And(ContainSubstring(exceeded), ContainSubstring(wallName)))))
		Consistently(ctx, func(g Gomega, ctx context.Context) {
			g.Expect(c.in.Get(ctx, client.ObjectKeyFromObject(pods["west"]), pods["west"])).To(Succeed())
			g.Expect(pods["west"].Status.Phase).To(Equal(corev1.PodPending))
			g.Expect(pods["west"].Spec.NodeName).To(BeEmpty())

			wall := wallOf(ctx, c.t)
			for name, used := range wall.Status.Used {
				g.Expect(used.Cmp(wall.Spec.Hard[name])).To(BeNumerically("<=", 0), "%s: %s used", name, used.String())
			}
		}).WithTimeout(stableFor).WithPolling(pollEvery).Should(Succeed())

		By("looking at the inner quota again")
		reconcileNow(ctx, c.quota(ctx), "deleted")
		Expect(c.innerQuota(ctx).Spec.Hard).To(BeComparableTo(inner.Spec.Hard))

		for _, p := range pods {
			Expect(c.in.Delete(ctx, p)).To(Succeed())
		}

		eventuallyFree(ctx, c, defaultQuota)
	}, SpecTimeout(specLimit))
}

func itFollowsARaisedQuota(c *cloudSpace) {
	It("Q5: raises the wall and the inner quota at once, without Helm", func(ctx SpecContext) {
		before, hard := counters(ctx), wallOf(ctx, c.t).Spec.Hard
		more := resource.MustParse("1500m")
		seen := record(ctx, &v1alpha1.TenantList{}, client.InNamespace(c.t.GetNamespace()))

		patch(ctx, c.t, func(t *v1alpha1.Tenant) { t.Spec.Quota.CPU = ptr.To(resource.MustParse("3500m")) })

		restored(ctx, func(g Gomega, ctx context.Context) {
			wall, inner := wallOf(ctx, c.t).Spec.Hard, c.innerQuota(ctx).Spec.Hard

			for _, name := range []corev1.ResourceName{corev1.ResourceRequestsCPU, corev1.ResourceLimitsCPU} {
				want := hard[name].DeepCopy()
				want.Add(more)
				g.Expect(wall[name]).To(BeComparableTo(want), "%s of the wall", name)

				want = defaultQuota[name].DeepCopy()
				want.Add(more)
				g.Expect(inner[name]).To(BeComparableTo(want), "%s inside", name)
			}
		})
		eventually(ctx, c.t, promptly, And(beReady(), showQuota(wallOf(ctx, c.t))))
		Expect(counters(ctx)[rig.HelmActions]).To(Equal(before[rig.HelmActions]))
		Expect(seen.phases()).To(HaveExactElements(v1alpha1.PhaseReady), "it works as before all the while")
	}, SpecTimeout(specLimit))
}

// free is what the wall leaves: its hard limits less what is used.
func (c *cloudSpace) free(ctx context.Context) (corev1.ResourceList, error) {
	q := &corev1.ResourceQuota{}
	if err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespaceOf(c.t), Name: wallName}, q); err != nil {
		return nil, err
	}

	out := corev1.ResourceList{}

	for name, hard := range q.Spec.Hard {
		rest := hard.DeepCopy()
		rest.Sub(q.Status.Used[name])
		out[name] = rest
	}

	return out, nil
}

func eventuallyFree(ctx context.Context, c *cloudSpace, want corev1.ResourceList) {
	GinkgoHelper()
	Eventually(ctx, c.free).WithTimeout(phaseLimit).WithPolling(pollEvery).Should(BeComparableTo(want), func() string {
		return cluster.DescribeAll(ctx)
	})
}

// innerQuota is the only ResourceQuota in the tenant's namespace default.
func (c *cloudSpace) innerQuota(ctx context.Context) *corev1.ResourceQuota {
	GinkgoHelper()

	l := &corev1.ResourceQuotaList{}
	Expect(c.in.List(ctx, l, client.InNamespace(metav1.NamespaceDefault))).To(Succeed())
	Expect(l.Items).To(HaveLen(1))

	return &l.Items[0]
}

// showQuota matches a Tenant whose status shows the wall as it is.
func showQuota(wall *corev1.ResourceQuota) gomegatypes.GomegaMatcher {
	return HaveField("Status.Quota", HaveValue(And(
		HaveField("Hard", BeComparableTo(wall.Spec.Hard)),
		HaveField("Used", WithTransform(pick, BeComparableTo(pick(wall.Status.Used)))),
		WithTransform(addsUp, Succeed()),
	)))
}

// pick leaves of a list what the default quota bounds.
func pick(l corev1.ResourceList) corev1.ResourceList {
	out := maps.Clone(l)
	maps.DeleteFunc(out, func(name corev1.ResourceName, _ resource.Quantity) bool {
		_, bounded := defaultQuota[name]
		return !bounded
	})

	return out
}

func addsUp(s v1alpha1.QuotaStatus) error {
	for name, hard := range s.Hard {
		sum := s.Workloads[name].DeepCopy()
		sum.Add(s.Platform[name])

		if sum.Cmp(hard) != 0 {
			return fmt.Errorf("%s: workloads and platform are %s, hard is %s", name, sum.String(), hard.String())
		}
	}

	return nil
}

// limitedPod sleeps, asks for next to nothing and counts with its limits.
func limitedPod(namespace, name, cpu, memory string) *corev1.Pod {
	p := shellPod(name, "exec sleep 1000000")
	p.SetNamespace(namespace)
	p.Spec.Containers[0].Resources = corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("16Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)},
	}

	return p
}
