// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// forced is how often an unchanged Tenant is looked at.
const forced = 50

var _ = Describe("A Ready Tenant", Ordered, ContinueOnFailure, func() {
	var t *v1alpha1.Tenant

	BeforeAll(func(ctx SpecContext) {
		t = rig.NewTenant(newNamespace(ctx), "ready")
		t.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "connection"}
		before := counters(ctx)
		create(ctx, t)
		eventually(ctx, t, readyLimit, beReady())
		// Counters that never move would prove nothing when they stand still.
		after := counters(ctx)
		Expect(after[rig.HostWrites]).To(BeNumerically(">", before[rig.HostWrites]))
		Expect(after[rig.HelmActions]).To(Equal(before[rig.HelmActions] + 1))
	}, NodeTimeout(specLimit))

	BeforeEach(func(ctx SpecContext) { eventually(ctx, t, readyLimit, beReady()) }, NodeTimeout(specLimit))

	It("has the connection Secret that it was asked for", func(ctx SpecContext) {
		s := &corev1.Secret{}
		Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: t.GetNamespace(), Name: "connection"}, s)).To(Succeed())
		Expect(s.Data).To(And(HaveLen(5), HaveKey("kubeconfig"), HaveKey("endpoint"), HaveKey("clusterCA"), HaveKey("clientCert"), HaveKey("clientKey")))
		Expect(rig.Answers(ctx, s.Data["kubeconfig"])).To(Succeed())
		Expect(rig.Answers(ctx, assembled(s.Data))).To(Succeed())
	}, SpecTimeout(specLimit))

	It(fmt.Sprintf("writes nothing in %d reconciles", forced), func(ctx SpecContext) {
		countersBefore, markBefore := counters(ctx), markAudit()

		for i := range forced {
			reconcileNow(ctx, t, fmt.Sprintf("unchanged-%d", i))
		}

		expectStill(ctx, countersBefore)
		expectOnlyLooks(ctx, markBefore, map[string]int{"tenants/status": forced})
		Expect(t).To(beReady())
	}, SpecTimeout(specLimit))

	It("K7: gets its Secret and its quota back when someone edits or deletes them", func(ctx SpecContext) {
		kubeconfig := secretOf(ctx, t).Data[secretKey]
		hard := wallOf(ctx, t).Spec.Hard

		for what, harm := range map[string]func(*corev1.Secret){
			"edited":     func(s *corev1.Secret) { s.Data[secretKey] = []byte("nonsense") },
			"emptied":    func(s *corev1.Secret) { s.Data = nil },
			"unlabelled": func(s *corev1.Secret) { s.Labels = nil },
			"deleted":    nil,
		} {
			By("the Secret is " + what)
			harmed := hurt(ctx, secretOf(ctx, t), harm)
			restored(ctx, func(g Gomega, ctx context.Context) {
				s := &corev1.Secret{}
				g.Expect(cluster.Client.Get(ctx, publishedKey(t), s)).To(Succeed())
				g.Expect(s.GetResourceVersion()).NotTo(Equal(harmed))
				g.Expect(s.Data).To(Equal(map[string][]byte{secretKey: kubeconfig}))
				g.Expect(s.GetLabels()).To(HaveKey(v1alpha1.LabelTenantID))
			})
		}

		for what, harm := range map[string]func(*corev1.ResourceQuota){
			"edited":     func(q *corev1.ResourceQuota) { q.Spec.Hard[corev1.ResourceLimitsCPU] = resource.MustParse("1k") },
			"unlabelled": func(q *corev1.ResourceQuota) { q.Labels = nil },
			"deleted":    nil,
		} {
			By("the quota is " + what)
			hurt(ctx, wallOf(ctx, t), harm)
			restored(ctx, func(g Gomega, ctx context.Context) {
				q := &corev1.ResourceQuota{}
				g.Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespaceOf(t), Name: wallName}, q)).To(Succeed())
				g.Expect(q.Spec.Hard).To(BeComparableTo(hard))
				g.Expect(q.GetLabels()).To(HaveKey(v1alpha1.LabelTenantUID))
			})
		}
	}, SpecTimeout(specLimit))

	It("Q5: follows a raised quota without Helm", func(ctx SpecContext) {
		before, hard := counters(ctx), wallOf(ctx, t).Spec.Hard

		patch(ctx, t, func(t *v1alpha1.Tenant) { t.Spec.Quota.CPU = ptr.To(resource.MustParse("7")) })

		want := hard[corev1.ResourceRequestsCPU].DeepCopy()
		want.Add(resource.MustParse("5")) // from 2
		Eventually(ctx, func(ctx context.Context) string {
			q := wallOf(ctx, t).Spec.Hard[corev1.ResourceRequestsCPU]
			return q.String()
		}).WithTimeout(promptly).WithPolling(pollEvery).Should(Equal(want.String()))
		eventually(ctx, t, phaseLimit, beReady())
		Expect(counters(ctx)[rig.HelmActions]).To(Equal(before[rig.HelmActions]))
	}, SpecTimeout(specLimit))

	It("is upgraded once when its values change", func(ctx SpecContext) {
		before := counters(ctx)

		patch(ctx, t, func(t *v1alpha1.Tenant) {
			t.Spec.VCluster = &v1alpha1.VClusterSpec{ValuesOverrides: values(`{"logging":{"encoding":"json"}}`)}
		})
		Eventually(ctx, func(ctx context.Context) ([]corev1.EnvVar, error) { return controlPlaneEnv(ctx, t) }).
			WithTimeout(phaseLimit).WithPolling(pollEvery).Should(ContainElement(logsJSON))
		eventually(ctx, t, readyLimit, And(beReady(), Not(say("a change waits"))))

		for i := range 3 {
			reconcileNow(ctx, t, fmt.Sprintf("upgraded-%d", i))
		}

		Expect(counters(ctx)[rig.HelmActions]).To(Equal(before[rig.HelmActions] + 1))
		Expect(records(ctx, t)).To(HaveLen(2))
	}, SpecTimeout(specLimit))

	DescribeTable("stays Ready and says which change it refuses",
		func(ctx SpecContext, wanted *v1alpha1.VClusterSpec, field string) {
			before, was := counters(ctx), t.Spec.VCluster.DeepCopy()
			DeferCleanup(func(ctx SpecContext) {
				patch(ctx, t, func(t *v1alpha1.Tenant) { t.Spec.VCluster = was })
				eventually(ctx, t, readyLimit, And(beReady(), Not(say("a change waits"))))
			}, NodeTimeout(cleanupLimit))

			kubeconfig := secretOf(ctx, t).Data[secretKey]
			patch(ctx, t, func(t *v1alpha1.Tenant) { t.Spec.VCluster = wanted })
			waits := And(beReady(), say("a change waits", field))
			eventually(ctx, t, phaseLimit, waits)
			consistently(ctx, t, waits)
			Expect(counters(ctx)[rig.HelmActions]).To(Equal(before[rig.HelmActions]))
			Expect(rig.Answers(ctx, kubeconfig)).To(Succeed())
		},
		Entry("H6: a volume of 10Gi instead of 5Gi",
			&v1alpha1.VClusterSpec{ValuesOverrides: values(`{"controlPlane":{"statefulSet":{"persistence":{"volumeClaim":{"size":"10Gi"}}}}}`)},
			"controlPlane.statefulSet.persistence.volumeClaim.size", SpecTimeout(specLimit)),
		Entry("another backing store",
			&v1alpha1.VClusterSpec{ValuesOverrides: values(`{"controlPlane":{"backingStore":{"etcd":{"deploy":{"enabled":true}}}}}`)},
			"controlPlane.backingStore", SpecTimeout(specLimit)),
		Entry("another distro",
			&v1alpha1.VClusterSpec{Distro: ptr.To(v1alpha1.DistroK3s)},
			"vcluster.distro", SpecTimeout(specLimit)),
		Entry("C4: a value that the chart's schema refuses",
			&v1alpha1.VClusterSpec{ValuesOverrides: values(`{"logging":{"encoding":1}}`)},
			"logging.encoding", SpecTimeout(specLimit)),
		Entry("a value that no Tenant may set",
			&v1alpha1.VClusterSpec{ValuesOverrides: values(`{"sync":{"toHost":{"networkPolicies":{"enabled":true}}}}`)},
			"sync.toHost.networkPolicies.enabled", SpecTimeout(specLimit)),
		Entry("C4: a chart version that does not exist",
			&v1alpha1.VClusterSpec{ChartVersion: ptr.To("0.36.99")},
			"0.36.99", SpecTimeout(specLimit)),
	)
})

// logsJSON is how the chart tells a control plane logging.encoding: json.
var logsJSON = corev1.EnvVar{Name: "LOFT_LOG_ENCODING", Value: "json"}

func controlPlaneEnv(ctx context.Context, t *v1alpha1.Tenant) ([]corev1.EnvVar, error) {
	set := &appsv1.StatefulSet{}
	if err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespaceOf(t), Name: releaseOf(t)}, set); err != nil {
		return nil, err
	}

	return set.Spec.Template.Spec.Containers[0].Env, nil
}

func values(json string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: []byte(json)} }

func wallOf(ctx context.Context, t *v1alpha1.Tenant) *corev1.ResourceQuota {
	GinkgoHelper()

	q := &corev1.ResourceQuota{}
	Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespaceOf(t), Name: wallName}, q)).To(Succeed())

	return q
}

// hurt changes or, without a change, deletes the object. It returns the version
// that the harm made.
func hurt[T client.Object](ctx context.Context, o T, harm func(T)) string {
	GinkgoHelper()

	if harm == nil {
		Expect(cluster.Client.Delete(ctx, o)).To(Succeed())
		return o.GetResourceVersion()
	}

	harm(o)
	Expect(cluster.Client.Update(ctx, o)).To(Succeed())

	return o.GetResourceVersion()
}

// restored must come true by a watch, long before a poll.
func restored(ctx context.Context, check func(Gomega, context.Context)) {
	GinkgoHelper()
	Eventually(ctx, check).WithTimeout(promptly).WithPolling(pollEvery).Should(Succeed())
}

// reconciled is an object of a kind of ours.
type reconciled interface {
	client.Object
	GetLastHandledReconcileAt() string
}

// reconcileNow asks for a reconcile and waits until it was done.
func reconcileNow(ctx context.Context, o reconciled, token string) {
	GinkgoHelper()

	annotate(ctx, o, meta.AnnotationKeyReconcileRequestedAt, token)
	Eventually(ctx, func(ctx context.Context) (string, error) {
		err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
		return o.GetLastHandledReconcileAt(), err
	}).WithTimeout(phaseLimit).WithPolling(pollEvery).Should(Equal(token), func() string { return describe(o) })
}

// annotate sets an annotation as kubectl does; the empty value removes it.
func annotate(ctx context.Context, o client.Object, key, value string) {
	GinkgoHelper()

	set := map[string]any{key: nil}
	if value != "" {
		set[key] = value
	}

	raw, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": set}})
	Expect(err).NotTo(HaveOccurred())
	Expect(cluster.Client.Patch(ctx, o, client.RawPatch(types.MergePatchType, raw))).To(Succeed())
}

// assembled is a kubeconfig made of the other keys of a connection Secret.
func assembled(data map[string][]byte) []byte {
	GinkgoHelper()

	raw, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "c",
		"contexts": []any{map[string]any{"name": "c", "context": map[string]any{"cluster": "c", "user": "c"}}},
		"clusters": []any{map[string]any{"name": "c", "cluster": map[string]any{
			"server": string(data["endpoint"]), "certificate-authority-data": data["clusterCA"],
		}}},
		"users": []any{map[string]any{"name": "c", "user": map[string]any{
			"client-certificate-data": data["clientCert"], "client-key-data": data["clientKey"],
		}}},
	})
	Expect(err).NotTo(HaveOccurred())

	return raw
}

// counters are the provider's own, by name.
func counters(ctx context.Context) map[string]float64 {
	GinkgoHelper()

	m, err := provider.Metrics(ctx)
	Expect(err).NotTo(HaveOccurred())

	out := map[string]float64{}

	for _, name := range []string{rig.HostWrites, rig.HelmActions, rig.ChartDownloads} {
		out[name], err = m.Sum(name)
		Expect(err).NotTo(HaveOccurred())
	}

	return out
}

func expectStill(ctx context.Context, before map[string]float64) {
	GinkgoHelper()
	Expect(counters(ctx)).To(Equal(before))
}

// markAudit is where the audit log stands before what follows.
func markAudit() rig.AuditMark {
	GinkgoHelper()

	m, err := rig.MarkAudit(cluster.AuditLog())
	Expect(err).NotTo(HaveOccurred())

	return m
}

// providerWrites counts the provider's writes at the API server since the mark, by kind. A write
// of our own, which the log must show, closes the window.
func providerWrites(ctx context.Context, since rig.AuditMark) map[string]int {
	GinkgoHelper()

	end := &corev1.ConfigMap{}
	end.SetNamespace(rig.Namespace)
	end.SetName(fmt.Sprintf("audit-end-%d", time.Now().UnixNano()))
	create(ctx, end)

	var out map[string]int

	Eventually(ctx, func(g Gomega) {
		events, err := rig.ReadAudit(cluster.AuditLog(), since)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(events).To(ContainElement(HaveField("RequestURI", ContainSubstring("configmaps"))))

		out = map[string]int{}

		for _, e := range events {
			if e.User.Username == rig.ProviderUser {
				out[e.Kind()]++
			}
		}
	}).WithTimeout(promptly).WithPolling(pollEvery).Should(Succeed())

	return out
}
