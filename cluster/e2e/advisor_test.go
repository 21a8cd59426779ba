// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/advisor"
)

// told is what the stand-in of the App Advisor tells of itself.
type told struct {
	Namespace     string            `json:"namespace"`
	Rules         []rule            `json:"rules"`
	Incomplete    bool              `json:"incomplete"`
	MayRead       []string          `json:"mayRead"`
	MayGetSecrets bool              `json:"mayGetSecrets"`
	Environment   map[string]string `json:"environment"`
}

type rule struct {
	Verbs     []string `json:"verbs"`
	APIGroups []string `json:"apiGroups"`
}

func itHasAnAdvisor(c *cloudSpace) {
	It("has an App Advisor that answers through its Service, reads, and sees no Secret", func(ctx SpecContext) {
		agent := c.agent(ctx)
		Expect(agent).To(beReadyAgent(rig.FakeAdvisorImage))
		Expect(metav1.IsControlledBy(agent, c.t)).To(BeTrue())

		says := c.askAdvisor(ctx, agent)
		Expect(says.Namespace).To(Equal(advisor.Namespace))
		Expect(says.Incomplete).To(BeFalse())
		Expect(says.MayRead).To(ContainElements("pods", "nodes", "events", "*.apps", "*.kustomize.toolkit.fluxcd.io"))
		Expect(says.MayRead).NotTo(ContainElements(Or(Equal("secrets"), Equal("*"), Equal("*.*"))))
		Expect(says.MayGetSecrets).To(BeFalse())

		for _, r := range says.Rules {
			// Everybody may ask the API server who they are.
			if !slices.Contains(r.APIGroups, "authorization.k8s.io") && !slices.Contains(r.APIGroups, "authentication.k8s.io") {
				Expect([]string{"get", "list", "watch"}).To(ContainElements(r.Verbs), "%+v", r)
			}
		}
	}, SpecTimeout(specLimit))

	It("has its App Advisor mended when the tenant's admin breaks it", func(ctx SpecContext) {
		agent := c.agent(ctx)
		named := metav1.ObjectMeta{Namespace: advisor.Namespace, Name: advisor.Name}

		for what, harm := range map[string]func(context.Context){
			"scaled": breaking(c, &appsv1.Deployment{ObjectMeta: named}, func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To(int32(3)) }),
			"of another image": breaking(c, &appsv1.Deployment{ObjectMeta: named}, func(d *appsv1.Deployment) {
				d.Spec.Template.Spec.Containers[0].Image = busyboxImage
			}),
			"deleted":         breaking[*appsv1.Deployment](c, &appsv1.Deployment{ObjectMeta: named}, nil),
			"without Service": breaking[*corev1.Service](c, &corev1.Service{ObjectMeta: named}, nil),
			"allowed to write": breaking(c, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: advisor.Name}}, func(r *rbacv1.ClusterRole) {
				r.Rules = append(r.Rules, everyKind)
			}),
		} {
			By("the App Advisor is " + what)
			harm(ctx)
			reconcileNow(ctx, agent, what)

			d := &appsv1.Deployment{}
			Expect(c.in.Get(ctx, client.ObjectKey{Namespace: named.Namespace, Name: named.Name}, d)).To(Succeed())
			Expect(d.Spec.Replicas).To(HaveValue(BeEquivalentTo(1)))
			Expect(d.Spec.Template.Spec.Containers[0].Image).To(Equal(rig.FakeAdvisorImage))
			Expect(c.in.Get(ctx, client.ObjectKeyFromObject(d), &corev1.Service{})).To(Succeed())

			r := &rbacv1.ClusterRole{}
			Expect(c.in.Get(ctx, client.ObjectKey{Name: named.Name}, r)).To(Succeed())
			Expect(r.Rules).NotTo(ContainElement(everyKind))
		}

		eventuallyReadyAgent(ctx, agent, rig.FakeAdvisorImage)
		eventually(ctx, c.t, phaseLimit, And(beReady(), say(messageWhole)))
	}, SpecTimeout(specLimit))
}

// breaking changes or, without a change, deletes an object in the tenant.
func breaking[T client.Object](c *cloudSpace, o T, change func(T)) func(context.Context) {
	return func(ctx context.Context) {
		GinkgoHelper()

		if change == nil {
			Expect(c.in.Delete(ctx, o)).To(Succeed())
			return
		}

		Eventually(ctx, func(g Gomega, ctx context.Context) {
			g.Expect(c.in.Get(ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
			change(o)
			g.Expect(c.in.Update(ctx, o)).To(Succeed())
		}).WithTimeout(promptly).WithPolling(pollEvery).Should(Succeed())
	}
}

// askAdvisor asks as a pod of the tenant.
func (c *cloudSpace) askAdvisor(ctx context.Context, a *v1alpha1.AdvisorAgent) told {
	GinkgoHelper()

	asker := shellPod("asks-"+a.GetName(), "until wget -q -O - "+a.Status.Endpoint+"; do sleep 1; done")
	eventuallyPod(ctx, c.in, asker, corev1.PodSucceeded)

	var out told
	Expect(json.Unmarshal([]byte(c.kubectl(ctx, "logs", asker.GetName())), &out)).To(Succeed())
	Expect(c.in.Delete(ctx, asker)).To(Succeed())

	return out
}

// beReadyAgent matches an AdvisorAgent that is Ready, for the spec as it is now,
// with that image.
func beReadyAgent(image string) gomegatypes.GomegaMatcher {
	return And(
		WithTransform(func(a *v1alpha1.AdvisorAgent) xpv2.Condition { return a.GetCondition(xpv2.TypeReady) }, HaveField("Status", corev1.ConditionTrue)),
		WithTransform(func(a *v1alpha1.AdvisorAgent) bool {
			return a.GetCondition(xpv2.TypeReady).ObservedGeneration == a.GetGeneration()
		}, BeTrue()),
		HaveField("Status.Image", image),
		HaveField("Status.ReadyReplicas", BeEquivalentTo(1)),
		HaveField("Status.Endpoint", Not(BeEmpty())),
	)
}

func eventuallyReadyAgent(ctx context.Context, a *v1alpha1.AdvisorAgent, image string) {
	GinkgoHelper()
	Eventually(ctx, func(ctx context.Context) (*v1alpha1.AdvisorAgent, error) {
		return a, cluster.Client.Get(ctx, client.ObjectKeyFromObject(a), a)
	}).WithTimeout(phaseLimit).WithPolling(pollEvery).Should(beReadyAgent(image))
}
