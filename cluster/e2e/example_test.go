// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

var _ = Describe("The Tenant of examples/tenant", Ordered, func() {
	var (
		t    = &v1alpha1.Tenant{ObjectMeta: metav1.ObjectMeta{Namespace: rig.Namespace, Name: "alice-default"}}
		seen *recorder
	)

	BeforeAll(func(ctx SpecContext) {
		// It lives as long as the whole container.
		seen = record(context.WithoutCancel(ctx), &v1alpha1.TenantList{}, client.InNamespace(rig.Namespace))
		_, err := kubectl(ctx, "apply", "-f", filepath.Join(root, "examples", "tenant", "tenant.yaml"))
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) { removeAndWait(ctx, t) }, NodeTimeout(cleanupLimit))
	}, NodeTimeout(phaseLimit))

	It("passes from Pending over Provisioning to Ready", func(ctx SpecContext) {
		eventually(ctx, t, readyLimit, beReady())
		Eventually(ctx, seen.phases).WithTimeout(promptly).WithPolling(pollEvery).Should(HaveExactElements(
			v1alpha1.PhasePending, v1alpha1.PhaseProvisioning, v1alpha1.PhaseReady))
		Expect(t.Status.VClusterName).To(Equal("vc-alice-default"))
		Expect(t.Status.Namespace).To(Equal("vcluster-alice-default"))
		Expect(t.Status.KubeconfigSecret).To(Equal("tenant-7e9d3a1b-0000-4000-8000-000000000002-kubeconfig"))
	}, SpecTimeout(specLimit))

	It("is shown by kubectl with its phase and its vCluster", func(ctx SpecContext) {
		out, err := kubectl(ctx, "get", "kt", "-n", rig.Namespace)
		Expect(err).NotTo(HaveOccurred())

		lines := strings.Split(strings.TrimSpace(out), "\n")
		Expect(lines).To(HaveLen(2), out)
		Expect(strings.Fields(lines[0])).To(Equal([]string{"NAME", "READY", "SYNCED", "PHASE", "VCLUSTER", "AGE"}))
		Expect(strings.Fields(lines[1])[:5]).To(Equal([]string{"alice-default", "True", "True", "Ready", "vc-alice-default"}))
	}, SpecTimeout(phaseLimit))

	It("publishes its kubeconfig in a labelled Secret", func(ctx SpecContext) {
		s := secretOf(ctx, t)
		Expect(s.GetLabels()).To(HaveKeyWithValue("kubeopera.io/tenant-id", t.Spec.CloudSpaceID))
		Expect(s.GetLabels()).To(HaveKeyWithValue("kubeopera.io/managed-by", "tenant-controller"))
		Expect(s.Data).To(HaveLen(1))
		Expect(rig.Answers(ctx, s.Data[secretKey])).To(Succeed())
	}, SpecTimeout(phaseLimit))

	It("runs a Pod on the node, and resolves its Service", func(ctx SpecContext) {
		kubeconfig := secretOf(ctx, t).Data[secretKey]
		file := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
		Expect(os.WriteFile(file, kubeconfig, 0o600)).To(Succeed())

		By("running a web server in the tenant")
		tenant := inside(kubeconfig)
		web := shellPod("web", "echo served by $HOSTNAME > /tmp/index.html; echo listening; exec httpd -f -p 8080 -h /tmp")
		eventuallyPod(ctx, tenant, web, corev1.PodRunning)
		expectSynced(ctx, t, web)

		By("reading its log and running a command in it")
		Eventually(ctx, func(ctx context.Context) (string, error) {
			return kubectl(ctx, "--kubeconfig", file, "logs", "web")
		}).WithTimeout(phaseLimit).WithPolling(pollEvery).Should(Equal("listening\n"))
		out, err := kubectl(ctx, "--kubeconfig", file, "exec", "web", "--", "cat", "/tmp/index.html")
		Expect(err).NotTo(HaveOccurred())
		Expect(out).To(Equal("served by web\n"))

		By("asking it by its Service's name")
		Expect(tenant.Create(ctx, &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "web"},
			Spec: corev1.ServiceSpec{
				Selector: map[string]string{"name": "web"},
				Ports:    []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}},
			},
		})).To(Succeed())
		asker := shellPod("asker", "until nslookup web.default.svc.cluster.local; do sleep 1; done >&2; "+
			"until wget -q -O - http://web.default.svc.cluster.local; do sleep 1; done")
		eventuallyPod(ctx, tenant, asker, corev1.PodSucceeded)
		out, err = kubectl(ctx, "--kubeconfig", file, "logs", "asker")
		Expect(err).NotTo(HaveOccurred())
		Expect(out).To(And(ContainSubstring("web.default.svc.cluster.local"), ContainSubstring("served by web\n")))
	}, SpecTimeout(specLimit))

	It("is there until the last of what it made is gone", func(ctx SpecContext) {
		volumes, err := cluster.Volumes(ctx, t)
		Expect(err).NotTo(HaveOccurred())
		Expect(volumes).To(HaveLen(1), "a vCluster has one volume")
		folder, err := cluster.VolumeFolder(&volumes[0])
		Expect(err).NotTo(HaveOccurred())
		Expect(folder).To(BeADirectory())

		kinds := map[string]*recorder{
			"namespace":         record(ctx, &corev1.NamespaceList{}),
			"release Secret":    record(ctx, &corev1.SecretList{}, client.InNamespace(namespaceOf(t))),
			"PersistentVolume":  record(ctx, &corev1.PersistentVolumeList{}),
			"kubeconfig Secret": record(ctx, &corev1.SecretList{}, client.InNamespace(rig.Namespace)),
		}
		names := map[string]string{
			"namespace":         namespaceOf(t),
			"release Secret":    "sh.helm.release.v1." + releaseOf(t) + ".v1",
			"PersistentVolume":  volumes[0].GetName(),
			"kubeconfig Secret": publishedKey(t).Name,
		}

		removeAndWait(ctx, t)
		expectNothingLeft(ctx, t)
		Expect(folder).NotTo(BeAnExistingFile())

		By("comparing when they went")
		Eventually(ctx, seen.deletions).WithTimeout(promptly).Should(HaveKey(t.GetName()))
		tenantWent := seen.deletions()[t.GetName()]
		for kind, name := range names {
			Eventually(ctx, kinds[kind].deletions).WithTimeout(promptly).Should(HaveKey(name), kind)
			Expect(kinds[kind].deletions()[name]).To(BeNumerically("<", tenantWent), "the %s went after the Tenant", kind)
		}
		Expect(seen.phases()).To(HaveExactElements(
			v1alpha1.PhasePending, v1alpha1.PhaseProvisioning, v1alpha1.PhaseReady, v1alpha1.PhaseDeleting))
	}, SpecTimeout(specLimit))
})

// expectSynced proves that the tenant's pod really runs on the node.
func expectSynced(ctx context.Context, t *v1alpha1.Tenant, p *corev1.Pod) {
	GinkgoHelper()

	l := &corev1.PodList{}
	Expect(cluster.Client.List(ctx, l, client.InNamespace(namespaceOf(t)), client.MatchingLabels{"vcluster.loft.sh/managed-by": releaseOf(t)})).To(Succeed())

	name := regexp.MustCompile("^" + p.GetName() + "-x-" + p.GetNamespace() + "-x-")
	for i := range l.Items {
		if h := &l.Items[i]; name.MatchString(h.GetName()) {
			Expect(h.Status.Phase).To(Equal(corev1.PodRunning))
			Expect(h.Spec.NodeName).NotTo(BeEmpty())
			Expect(h.Spec.Containers[0].Image).To(Equal(busyboxImage))

			return
		}
	}

	Fail("no pod of the host namespace stands for the tenant's pod " + p.GetName())
}
