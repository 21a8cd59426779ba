// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

func itRunsPods(c *cloudSpace) {
	It("runs a Pod on the node, and resolves its Service", func(ctx SpecContext) {
		By("running a web server in the tenant")
		web := shellPod("web", "echo served by $HOSTNAME > /tmp/index.html; echo listening; exec httpd -f -p 8080 -h /tmp")
		eventuallyPod(ctx, c.in, web, corev1.PodRunning)
		expectSynced(ctx, c.t, web)

		By("reading its log and running a command in it")
		Eventually(ctx, func(ctx context.Context) (string, error) {
			return rig.Kubectl(ctx, "--kubeconfig", c.file, "logs", "web")
		}).WithTimeout(phaseLimit).WithPolling(pollEvery).Should(Equal("listening\n"))
		Expect(c.kubectl(ctx, "exec", "web", "--", "cat", "/tmp/index.html")).To(Equal("served by web\n"))

		By("asking it by its Service's name")
		Expect(c.in.Create(ctx, &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "web"},
			Spec: corev1.ServiceSpec{
				Selector: map[string]string{"name": "web"},
				Ports:    []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}},
			},
		})).To(Succeed())
		asker := shellPod("asker", "until nslookup web.default.svc.cluster.local; do sleep 1; done >&2; "+
			"until wget -q -O - http://web.default.svc.cluster.local; do sleep 1; done")
		eventuallyPod(ctx, c.in, asker, corev1.PodSucceeded)
		Expect(c.kubectl(ctx, "logs", "asker")).To(And(ContainSubstring("web.default.svc.cluster.local"), ContainSubstring("served by web\n")))
	}, SpecTimeout(specLimit))
}

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
