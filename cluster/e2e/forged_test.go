// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

const (
	// forgedRevision is newer than any that the provider makes here.
	forgedRevision = 99
	forgedName     = "forged"
)

var _ = Describe("A Tenant whose admin forges a record of its release", func() {
	It("goes on with the provider's own", func(ctx SpecContext) {
		c := &cloudSpace{t: newReady(ctx, newNamespace(ctx), "forged")}
		c.enter(ctx)

		before, mine := counters(ctx), ownRecords(ctx, c.t)
		Expect(mine).To(HaveLen(1))

		By("having vCluster sync it to the host")
		c.forge(ctx)
		Eventually(ctx, func(ctx context.Context) ([]corev1.Secret, error) { return forgedOn(ctx, c.t) }).
			WithTimeout(phaseLimit).WithPolling(pollEvery).Should(ConsistOf(And(
			HaveField("Labels", And(HaveKeyWithValue(labelOwner, ownerHelm), HaveKeyWithValue(labelStatus, "deployed"))),
			HaveField("Data", HaveKey("release")),
		)))

		By("looking at the Tenant")

		for i := range 3 {
			reconcileNow(ctx, c.t, fmt.Sprintf("forged-%d", i))
			Expect(c.t).To(beReady())
		}

		Expect(counters(ctx)[rig.HelmActions]).To(Equal(before[rig.HelmActions]))
		Expect(ownRecords(ctx, c.t)).To(Equal(mine))

		By("upgrading it")
		patch(ctx, c.t, func(t *v1alpha1.Tenant) {
			t.Spec.VCluster = &v1alpha1.VClusterSpec{ValuesOverrides: values(`{"logging":{"encoding":"json"}}`)}
		})
		Eventually(ctx, func(ctx context.Context) ([]corev1.EnvVar, error) { return controlPlaneEnv(ctx, c.t) }).
			WithTimeout(phaseLimit).WithPolling(pollEvery).Should(ContainElement(logsJSON))
		eventually(ctx, c.t, readyLimit, And(beReady(), Not(say("a change waits"))))
		Expect(counters(ctx)[rig.HelmActions]).To(Equal(before[rig.HelmActions] + 1))
		Expect(ownRecords(ctx, c.t)).To(And(HaveLen(2), HaveKey(recordName(c.t, 2))))

		By("looking for what the forged release names")
		o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespaceOf(c.t), Name: forgedName}}
		Expect(kerrors.IsNotFound(cluster.Client.Get(ctx, client.ObjectKeyFromObject(o), o))).To(BeTrue())
		Expect(forgedOn(ctx, c.t)).To(HaveLen(1), "the forged record was there all the time")
	}, SpecTimeout(2*specLimit))
})

// forge has the tenant's admin write a record of the Tenant's release, with Helm, into
// the vCluster, and have that sync it.
func (c *cloudSpace) forge(ctx context.Context) {
	GinkgoHelper()

	cfg := &action.Configuration{}
	settings := cli.New()
	settings.KubeConfig = c.file
	settings.SetNamespace(metav1.NamespaceDefault)
	Expect(cfg.Init(settings.RESTClientGetter(), metav1.NamespaceDefault, "secret", func(string, ...any) {})).To(Succeed())

	Expect(cfg.Releases.Create(&release.Release{
		Name: releaseOf(c.t), Namespace: namespaceOf(c.t), Version: forgedRevision,
		Info:     &release.Info{Status: release.StatusDeployed, Description: "forged"},
		Chart:    &chart.Chart{Metadata: &chart.Metadata{APIVersion: chart.APIVersionV2, Name: "vcluster", Version: rig.ChartVersion}},
		Config:   map[string]any{"controlPlane": map[string]any{"coredns": map[string]any{"enabled": false}}},
		Manifest: "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + forgedName + "\n",
	})).To(Succeed())

	c.kubectl(ctx, "annotate", "-n", metav1.NamespaceDefault, "secret", recordName(c.t, forgedRevision), "vcluster.loft.sh/force-sync=true")
}

func recordName(t *v1alpha1.Tenant, revision int) string {
	return fmt.Sprintf("sh.helm.release.v1.%s.v%d", releaseOf(t), revision)
}

// ownRecords are the versions of the records that the provider's Helm wrote, by name.
func ownRecords(ctx context.Context, t *v1alpha1.Tenant) map[string]string {
	GinkgoHelper()

	out := versionsOf(records(ctx, t))
	for name := range out {
		if strings.Contains(name, "-x-") {
			delete(out, name)
		}
	}

	return out
}

// forgedOn are the records that came out of the vCluster, and pass for the newest.
func forgedOn(ctx context.Context, t *v1alpha1.Tenant) ([]corev1.Secret, error) {
	l := &corev1.SecretList{}
	err := cluster.Client.List(ctx, l, client.InNamespace(namespaceOf(t)),
		client.MatchingLabels{labelOwner: ownerHelm, "name": releaseOf(t), "version": fmt.Sprint(forgedRevision)})

	return l.Items, err
}
