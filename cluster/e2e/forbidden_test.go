// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

var (
	everyVerb = []string{rbacv1.VerbAll}
	toLook    = []string{"get", "list", "watch"}
	everyKind = rbacv1.PolicyRule{APIGroups: []string{rbacv1.APIGroupAll}, Resources: []string{rbacv1.ResourceAll}, Verbs: everyVerb}
)

var _ = Describe("A Tenant on a host that forbids something", func() {
	DescribeTable("fails with what is forbidden, and goes on by itself once it is allowed",
		func(ctx SpecContext, rules []rbacv1.PolicyRule, words ...string) {
			role, pc := newHost(ctx, rules)

			t := rig.NewTenant(pc.GetNamespace(), "forbidden")
			t.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: pc.GetName()})
			create(ctx, t)
			eventually(ctx, t, phaseLimit, And(bePhase(v1alpha1.PhaseFailed), say(append(words, "forbid")...)))
			Expect(records(ctx, t)).To(BeEmpty())

			By("allowing everything")
			role.Rules = []rbacv1.PolicyRule{everyKind}
			Expect(cluster.Client.Update(ctx, role)).To(Succeed())
			eventually(ctx, t, readyLimit, beReady())
			removeAndWait(ctx, t)
			expectNothingLeft(ctx, t)
		},
		Entry("everything", nil, "list", SpecTimeout(specLimit)),
		Entry("new namespaces", []rbacv1.PolicyRule{
			{APIGroups: []string{rbacv1.APIGroupAll}, Resources: []string{rbacv1.ResourceAll}, Verbs: toLook},
		}, "create", "namespaces", SpecTimeout(specLimit)),
		Entry("H11: updates of Secrets", []rbacv1.PolicyRule{
			{APIGroups: []string{rbacv1.APIGroupAll}, Resources: []string{rbacv1.ResourceAll}, Verbs: toLook},
			{APIGroups: []string{""}, Resources: []string{"namespaces", "limitranges", "resourcequotas"}, Verbs: everyVerb},
			{APIGroups: []string{"networking.k8s.io"}, Resources: []string{"networkpolicies"}, Verbs: everyVerb},
			{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create", "delete"}},
		}, "update", "secrets", SpecTimeout(specLimit)),
	)
})

// newHost is a ProviderConfig by which the provider is no more on the cluster
// than the rules of the role allow.
func newHost(ctx context.Context, rules []rbacv1.PolicyRule) (*rbacv1.ClusterRole, *v1alpha1.ProviderConfig) {
	GinkgoHelper()

	namespace, name := newNamespace(ctx), "e2e-host-"+rand.String(5)
	in := metav1.ObjectMeta{Namespace: namespace, Name: name}
	sa := &corev1.ServiceAccount{ObjectMeta: in}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}},
	}

	for _, o := range []client.Object{sa, role, binding} {
		create(ctx, o)
	}

	kubeconfig, err := cluster.KubeconfigOf(ctx, sa)
	Expect(err).NotTo(HaveOccurred())
	create(ctx, &corev1.Secret{ObjectMeta: in, Data: map[string][]byte{secretKey: kubeconfig}})

	pc := &v1alpha1.ProviderConfig{ObjectMeta: in}
	pc.Spec.Credentials.Source = xpv2.CredentialsSourceSecret
	pc.Spec.Credentials.SecretRef = &xpv2.LocalSecretKeySelector{Key: secretKey}
	pc.Spec.Credentials.SecretRef.Name = name
	pc.Spec.Chart = &v1alpha1.LocalChartSource{Chart: v1alpha1.Chart{
		Repository: rig.ChartRepository, Version: rig.ChartVersion, PlainHTTP: true,
	}}
	create(ctx, pc)

	return role, pc
}
