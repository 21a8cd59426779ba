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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

var _ = Describe("A Tenant that cannot be made", func() {
	DescribeTable("fails with the reason and leaves nothing",
		func(ctx SpecContext, change func(*v1alpha1.Tenant), words ...string) {
			t := rig.NewTenant(newNamespace(ctx), "bad")
			change(t)
			create(ctx, t)

			eventually(ctx, t, phaseLimit, And(bePhase(v1alpha1.PhaseFailed), say(words...)))
			expectNoHostNamespace(ctx, t)
			removeAndWait(ctx, t)
			expectNothingLeft(ctx, t)
		},
		Entry("C4: a chart version that does not exist", func(t *v1alpha1.Tenant) {
			t.Spec.VCluster = &v1alpha1.VClusterSpec{ChartVersion: ptr.To("0.35.99")}
		}, "vcluster.chartVersion", "0.35.99", rig.ChartRepository, "0.20.0 to 0.36.x", SpecTimeout(specLimit)),
		Entry("C4: a chart version that is not supported", func(t *v1alpha1.Tenant) {
			t.Spec.VCluster = &v1alpha1.VClusterSpec{ChartVersion: ptr.To("0.19.0")}
		}, "0.19.0", "0.20", "0.36", SpecTimeout(specLimit)),
		Entry("C4: a value that the chart's schema refuses", func(t *v1alpha1.Tenant) {
			t.Spec.VCluster = &v1alpha1.VClusterSpec{ValuesOverrides: values(`{"sync":{"toHost":{"pods":{"enabled":"often"}}}}`)}
		}, "vcluster.valuesOverrides", "sync.toHost.pods.enabled", "0.20.0 to 0.36.x", SpecTimeout(specLimit)),
		Entry("C4: values of chart 0.19", func(t *v1alpha1.Tenant) {
			t.Spec.VCluster = &v1alpha1.VClusterSpec{ValuesOverrides: values(`{"syncer":{"extraArgs":["--v=2"]}}`)}
		}, "vcluster.valuesOverrides", "syncer", SpecTimeout(specLimit)),
		Entry("a value that no Tenant may set", func(t *v1alpha1.Tenant) {
			t.Spec.VCluster = &v1alpha1.VClusterSpec{ValuesOverrides: values(`{"exportKubeConfig":{"server":"https://example.com"}}`)}
		}, "exportKubeConfig.server", `spec.allowedValuesOverrides of ClusterProviderConfig "default"`, SpecTimeout(specLimit)),
		Entry("a provider configuration that does not exist", func(t *v1alpha1.Tenant) {
			t.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "nowhere"})
		}, "nowhere", SpecTimeout(specLimit)),
	)

	It("C2: fails with the layer of a registry that cannot be reached", func(ctx SpecContext) {
		pc := rig.ProviderConfig("closed-"+rand.String(5), v1alpha1.Chart{
			Repository: "oci://10.89.0.1:1/loft-sh/charts/vcluster", Version: rig.ChartVersion, PlainHTTP: true,
		})
		create(ctx, pc)

		t := rig.NewTenant(newNamespace(ctx), "bad")
		t.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: pc.GetName()})
		create(ctx, t)

		eventually(ctx, t, phaseLimit, And(bePhase(v1alpha1.PhaseFailed), say("10.89.0.1:1", "connect")))
		expectNoHostNamespace(ctx, t)
		removeAndWait(ctx, t)
		expectNothingLeft(ctx, t)
	}, SpecTimeout(specLimit))

	It("D8: leaves alone a host namespace that someone else made", func(ctx SpecContext) {
		t := rig.NewTenant(newNamespace(ctx), "foreign")
		theirs := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceOf(t), Labels: map[string]string{"owner": "someone"}}}
		create(ctx, theirs)
		thing := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: theirs.GetName(), Name: "precious"}}
		Expect(cluster.Client.Create(ctx, thing)).To(Succeed())

		create(ctx, t)
		eventually(ctx, t, phaseLimit, And(bePhase(v1alpha1.PhaseFailed), say(theirs.GetName(), "tenantName")))
		expectUntouched(ctx, theirs, thing)

		removeAndWait(ctx, t)
		expectUntouched(ctx, theirs, thing)
	}, SpecTimeout(specLimit))
})

// expectUntouched proves that the namespace and its only object are as they were.
func expectUntouched(ctx context.Context, ns *corev1.Namespace, thing *corev1.ConfigMap) {
	GinkgoHelper()

	now := &corev1.Namespace{}
	Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(ns), now)).To(Succeed())
	Expect(version(now)).To(Equal(version(ns)))
	Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(thing), &corev1.ConfigMap{})).To(Succeed())

	for _, l := range []client.ObjectList{&corev1.ResourceQuotaList{}, &corev1.LimitRangeList{}, &corev1.SecretList{}} {
		Expect(cluster.Client.List(ctx, l, client.InNamespace(ns.GetName()))).To(Succeed())
		Expect(l).To(HaveField("Items", BeEmpty()))
	}
}
