// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package crossplane

import (
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// account is the provider's user name at the API server.
const account = "system:serviceaccount:" + rig.CrossplaneNamespace + ":provider-kubeopera"

// groups are those of the account.
var groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + rig.CrossplaneNamespace, "system:authenticated"}

var _ = Describe("The provider as Crossplane runs it", func() {
	It("is a pod under its own account that can write nowhere but into its chart cache", func(ctx SpecContext) {
		pod := podOf(ctx, "provider-kubeopera")
		Expect(pod.Containers).To(HaveLen(1))

		c := pod.Containers[0]
		Expect(c.SecurityContext.ReadOnlyRootFilesystem).To(HaveValue(BeTrue()))
		Expect(pod.SecurityContext.RunAsNonRoot).To(HaveValue(BeTrue()))
		Expect(c.SecurityContext.Capabilities.Drop).To(ConsistOf(corev1.Capability("ALL")))
		Expect(c.VolumeMounts).To(ContainElement(And(HaveField("Name", "charts"), HaveField("MountPath", "/charts"))))

		for _, m := range c.VolumeMounts {
			Expect(m.ReadOnly || m.Name == "charts").To(BeTrue(), "%s can be written to", m.MountPath)
		}
	}, SpecTimeout(specLimit))

	DescribeTable("may not make itself more than it is",
		func(ctx SpecContext, verb, group, resource string) {
			Expect(may(ctx, verb, group, resource)).To(BeFalse())
		},
		Entry("by roles that it does not hold", "escalate", "rbac.authorization.k8s.io", "roles", SpecTimeout(promptly)),
		Entry("by ClusterRoles that it does not hold", "escalate", "rbac.authorization.k8s.io", "clusterroles", SpecTimeout(promptly)),
		Entry("by binding roles that it does not hold", "bind", "rbac.authorization.k8s.io", "roles", SpecTimeout(promptly)),
		Entry("by binding ClusterRoles that it does not hold", "bind", "rbac.authorization.k8s.io", "clusterroles", SpecTimeout(promptly)),
		Entry("by a ClusterRole", "create", "rbac.authorization.k8s.io", "clusterroles", SpecTimeout(promptly)),
		Entry("by a binding to the whole cluster", "create", "rbac.authorization.k8s.io", "clusterrolebindings", SpecTimeout(promptly)),
		Entry("by acting as somebody else", "impersonate", "", "users", SpecTimeout(promptly)),
		Entry("by everything", "*", "*", "*", SpecTimeout(promptly)),
	)

	It("may run nothing outside of the namespaces of CloudSpaces", func(ctx SpecContext) {
		cfg := rest.CopyConfig(cluster.Config)
		cfg.Impersonate = rest.ImpersonationConfig{UserName: account, Groups: groups}
		c, err := client.New(cfg, client.Options{})
		Expect(err).NotTo(HaveOccurred())

		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, GenerateName: "intruder-"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "registry.k8s.io/pause:3.10"}}},
		}
		Expect(c.Create(ctx, pod, client.DryRunAll)).To(MatchError(ContainSubstring("in namespaces of Tenants only")))
	}, SpecTimeout(promptly))

	It("may do what it is there for", func(ctx SpecContext) {
		Expect(may(ctx, "create", "", "namespaces")).To(BeTrue())
	}, SpecTimeout(promptly))
})

// may says whether the provider's account may do so everywhere.
func may(ctx SpecContext, verb, group, resource string) bool {
	GinkgoHelper()

	r := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:               account,
		Groups:             groups,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Group: group, Resource: resource},
	}}
	Expect(cluster.Client.Create(ctx, r)).To(Succeed())

	return r.Status.Allowed
}

// podOf is the pod of the only Deployment beside Crossplane that has the account.
func podOf(ctx SpecContext, account string) corev1.PodSpec {
	GinkgoHelper()

	l := &appsv1.DeploymentList{}
	Expect(cluster.Client.List(ctx, l, client.InNamespace(rig.CrossplaneNamespace))).To(Succeed())

	var out []corev1.PodSpec

	for i := range l.Items {
		if p := l.Items[i].Spec.Template.Spec; p.ServiceAccountName == account {
			out = append(out, p)
		}
	}

	Expect(out).To(HaveLen(1), "Deployments with service account %s", account)

	return out[0]
}

// What Crossplane's RBAC manager grants to each provider is taken away here, so that
// nothing but the shipped ClusterRoles is left.
var _ = Describe("The provider with the shipped ClusterRoles alone", Serial, func() {
	It("makes and removes a CloudSpace", func(ctx SpecContext) {
		scaleManager(ctx, 0)
		DeferCleanup(func(ctx SpecContext) { scaleManager(ctx, 1) }, NodeTimeout(promptly))
		unbind(ctx, "crossplane:provider:")
		Expect(may(ctx, "delete", "", "configmaps")).To(BeTrue(), "the host's role grants it")
		Expect(may(ctx, "delete", "coordination.k8s.io", "leases")).To(BeFalse(), "only Crossplane's role grants it")

		By("starting the provider anew")
		pods := &corev1.PodList{}
		Expect(cluster.Client.List(ctx, pods, client.InNamespace(rig.CrossplaneNamespace), client.HasLabels{labelProvider})).To(Succeed())

		for i := range pods.Items {
			if pods.Items[i].Spec.ServiceAccountName == "provider-kubeopera" {
				Expect(cluster.Client.Delete(ctx, &pods.Items[i])).To(Succeed())
				eventuallyGone(ctx, &pods.Items[i])
			}
		}

		namespace := newNamespace(ctx)
		o := applied(ctx, namespace, "cloudspace", "staging.yaml")
		eventuallyReady(ctx, o)
		expectToGo(ctx, o, theTenant(ctx, namespace))
	}, SpecTimeout(specLimit))
})

// labelProvider is on the pods of each provider.
const labelProvider = "pkg.crossplane.io/provider"

// scaleManager sets how many of Crossplane's RBAC manager run.
func scaleManager(ctx SpecContext, replicas int) {
	GinkgoHelper()

	_, err := rig.Kubectl(ctx, "scale", "deployment", "crossplane-rbac-manager", "-n", rig.CrossplaneNamespace, "--timeout=30s", "--replicas", strconv.Itoa(replicas))
	Expect(err).NotTo(HaveOccurred())

	l := &corev1.PodList{}
	Eventually(ctx, func(ctx SpecContext) ([]corev1.Pod, error) {
		err := cluster.Client.List(ctx, l, client.InNamespace(rig.CrossplaneNamespace), client.MatchingLabels{"app": "crossplane-rbac-manager"})
		return l.Items, err
	}).WithTimeout(promptly).WithPolling(pollEvery).Should(HaveLen(replicas))
}

// unbind deletes the bindings of that prefix that name the provider's account, of
// which there must be some.
func unbind(ctx SpecContext, prefix string) {
	GinkgoHelper()

	l := &rbacv1.ClusterRoleBindingList{}
	Expect(cluster.Client.List(ctx, l)).To(Succeed())

	n := 0

	for i := range l.Items {
		b := &l.Items[i]
		ours := slices.ContainsFunc(b.Subjects, func(s rbacv1.Subject) bool { return s.Name == "provider-kubeopera" })

		if ours && strings.HasPrefix(b.GetName(), prefix) {
			Expect(cluster.Client.Delete(ctx, b)).To(Succeed())

			n++
		}
	}

	Expect(n).To(BeNumerically(">", 0))
}
