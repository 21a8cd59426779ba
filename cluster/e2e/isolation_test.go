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
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

var _ = Describe("Two Tenants of one host cluster", Ordered, ContinueOnFailure, func() {
	var (
		config    *v1alpha1.ClusterProviderConfig
		one, two  = &cloudSpace{}, &cloudSpace{}
		neighbour pod // in a namespace that is no Tenant's
	)

	BeforeAll(func(ctx SpecContext) {
		config = rig.ProviderConfig("isolated-"+rand.String(5), v1alpha1.Chart{Repository: rig.ChartRepository, Version: rig.ChartVersion, PlainHTTP: true})
		config.Spec.Isolation = nil
		create(ctx, config)

		namespace := newNamespace(ctx)
		for _, c := range []*cloudSpace{one, two} {
			c.t = rig.NewTenant(namespace, "walled")
			c.t.SetProviderConfigReference(&xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: config.GetName()})
			create(ctx, c.t)
		}

		neighbour = pod{namespace: newNamespace(ctx), name: "web"}
		web := webPod()
		web.SetNamespace(neighbour.namespace)
		eventuallyPod(ctx, cluster.Client, web, corev1.PodRunning)

		addAddress(ctx, metadataAddress)
		addAddress(ctx, publicAddress)

		for _, a := range []string{metadataAddress, publicAddress, gateway} {
			listen(ctx, a)
		}

		for _, c := range []*cloudSpace{one, two} {
			eventually(ctx, c.t, readyLimit, beReady())
			c.enter(ctx)
			runWeb(ctx, c)
		}
	}, NodeTimeout(2*specLimit))

	It("reach their own pods, their own API, and public networks", func(ctx SpecContext) {
		for _, c := range []*cloudSpace{one, two} {
			Expect(outcomes(ctx, c.web(), targetsIn(ctx, c))).To(HaveEach(connected))
			Expect(outcomes(ctx, c.web(), targets{
				"its API by its name": "kubernetes.default.svc.cluster.local 443",
				"a public address":    publicAddress + " 80",
			})).To(HaveEach(connected))
		}
	}, SpecTimeout(specLimit))

	It("ask their own DNS server, and the host's", func(ctx SpecContext) {
		Expect(one.web().run(ctx, "nslookup web.default.svc.cluster.local")).To(ContainSubstring("Address"))
		Expect(one.web().run(ctx, "nslookup kubernetes.default.svc.cluster.local "+hostDNS)).To(ContainSubstring("10.96.0.1"))
	}, SpecTimeout(specLimit))

	It("are reached from a namespace that is no Tenant's, as that of an ingress controller", func(ctx SpecContext) {
		Expect(neighbour.run(ctx, "wget -q -O - http://"+hostOf(targetsIn(ctx, one)["the pod"])+":8080")).To(Equal(webPage))
	}, SpecTimeout(specLimit))

	It("reach nothing of each other", func(ctx SpecContext) {
		for _, c := range []struct{ from, to *cloudSpace }{{one, two}, {two, one}} {
			theirs := targetsIn(ctx, c.to)
			// The same questions get answers where they may be asked.
			Expect(outcomes(ctx, neighbour, theirs)).To(HaveEach(connected))
			Expect(outcomes(ctx, c.from.web(), theirs)).To(HaveEach(dropped))
		}
	}, SpecTimeout(specLimit))

	It("reach nothing of the host: its API, its node, its pods, private addresses", func(ctx SpecContext) {
		hosts := targetsOfHost(ctx, neighbour)
		Expect(outcomes(ctx, neighbour, hosts)).To(HaveEach(connected))

		for _, c := range []*cloudSpace{one, two} {
			Expect(outcomes(ctx, c.web(), hosts)).To(HaveEach(dropped))
		}
	}, SpecTimeout(specLimit))

	It("are walled off from the first packet of a pod on", func(ctx SpecContext) {
		ask := func(name, target string) string {
			return "nc -w 2 " + target + " </dev/null 2>/dev/null && echo " + name + "; "
		}
		hasty := shellPod("hasty", ask("theirs", targetsIn(ctx, two)["the pod"])+ask("own", targetsIn(ctx, one)["the pod"])+"true")
		eventuallyPod(ctx, one.in, hasty, corev1.PodSucceeded)
		Expect(one.kubectl(ctx, "logs", "hasty")).To(Equal("own\n"))
	}, SpecTimeout(specLimit))

	It("reach what the configuration opens, as it changes, without Helm", func(ctx SpecContext) {
		git := targets{"the Git server": rig.NodeAddress + " 3000"}
		others := targets{"the registry": rig.NodeAddress + " 5000", "a public address": publicAddress + " 80"}
		before := versionsOf(records(ctx, one.t))

		open := func(rules []networkingv1.NetworkPolicyEgressRule) {
			old := config.DeepCopy()
			config.Spec.Isolation = &v1alpha1.Isolation{Egress: rules}
			Expect(cluster.Client.Patch(ctx, config, client.MergeFrom(old))).To(Succeed())
		}
		becomes := func(want string) {
			Eventually(ctx, func(ctx context.Context) (map[string]string, error) {
				return outcomes(ctx, one.web(), git)
			}).WithTimeout(phaseLimit).WithPolling(pollEvery).Should(HaveEach(want))
		}

		By("opening the Git server alone")
		open([]networkingv1.NetworkPolicyEgressRule{rig.EgressTo(rig.NodeAddress, rig.GitPort)})
		becomes(connected)
		Expect(outcomes(ctx, one.web(), others)).To(HaveEach(dropped))
		Expect(outcomes(ctx, one.web(), targetsIn(ctx, one))).To(HaveEach(connected))

		By("opening nothing")
		open([]networkingv1.NetworkPolicyEgressRule{})
		becomes(dropped)
		Expect(outcomes(ctx, one.web(), others)).To(HaveEach(dropped))

		eventually(ctx, one.t, promptly, beReady())
		Expect(versionsOf(records(ctx, one.t))).To(Equal(before))
	}, SpecTimeout(specLimit))

	DescribeTable("have no pod that the Pod Security Standard refuses",
		func(ctx SpecContext, change func(*corev1.PodSpec), words ...string) {
			p := shellPod("bold-"+rand.String(5), "sleep 3600")
			change(&p.Spec)
			Expect(one.in.Create(ctx, p)).To(Succeed())
			DeferCleanup(func(ctx SpecContext) { Expect(one.in.Delete(ctx, p)).To(Succeed()) }, NodeTimeout(cleanupLimit))

			want := ContainSubstring(`violates PodSecurity "baseline:latest"`)
			for _, w := range words {
				want = And(want, ContainSubstring(w))
			}

			Eventually(ctx, func(ctx context.Context) ([]string, error) {
				return messagesOn(ctx, one.in, p)
			}).WithTimeout(phaseLimit).WithPolling(pollEvery).Should(ContainElement(want))
			Expect(one.in.Get(ctx, client.ObjectKeyFromObject(p), p)).To(Succeed())
			Expect(p.Status.Phase).To(Equal(corev1.PodPending))
			Expect(hostPods(ctx, one.t)).NotTo(ContainElement(HavePrefix(p.GetName())))
		},
		Entry("a privileged one", func(s *corev1.PodSpec) {
			s.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: ptr.To(true)}
		}, "privileged", SpecTimeout(specLimit)),
		Entry("one with a folder of the node", func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{Name: "root", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
		}, "hostPath", SpecTimeout(specLimit)),
		Entry("one in the node's network", func(s *corev1.PodSpec) { s.HostNetwork = true }, "host namespaces", "hostNetwork", SpecTimeout(specLimit)),
	)
})

// versionsOf are the names and versions of Helm's records.
func versionsOf(secrets []corev1.Secret) map[string]string {
	out := map[string]string{}
	for i := range secrets {
		out[secrets[i].GetName()] = secrets[i].GetResourceVersion()
	}

	return out
}

// messagesOn are the messages of the events on a pod in the cluster of c.
func messagesOn(ctx context.Context, c client.Client, p *corev1.Pod) ([]string, error) {
	l := &corev1.EventList{}
	err := c.List(ctx, l, client.InNamespace(p.GetNamespace()))

	var out []string

	for _, e := range l.Items {
		if e.InvolvedObject.Kind == "Pod" && e.InvolvedObject.Name == p.GetName() {
			out = append(out, e.Message)
		}
	}

	return out, err
}

// hostPods are the names of the pods in the Tenant's host namespace.
func hostPods(ctx context.Context, t *v1alpha1.Tenant) []string {
	GinkgoHelper()

	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	Expect(cluster.Client.List(ctx, l, client.InNamespace(namespaceOf(t)))).To(Succeed())

	var out []string
	for i := range l.Items {
		out = append(out, l.Items[i].GetName())
	}

	return out
}
