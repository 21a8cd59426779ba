// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/advisor"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
)

// watched is an object whose end is watched.
type watched struct {
	what, name string
	by         *recorder
}

// went is how the object's end was seen, which must have been seen.
func (w watched) went(ctx context.Context) change {
	GinkgoHelper()
	Eventually(ctx, w.by.deletions).WithTimeout(promptly).WithPolling(pollEvery).Should(HaveKey(w.name), "the end of the %s", w.what)

	return w.by.deletions()[w.name]
}

// expectDeletionInOrder deletes the Tenant and proves the order in which its parts
// go: by the revisions of the host cluster and, for what is in the vCluster, by
// when it was seen. The recorder is that of the Tenant itself.
func expectDeletionInOrder(ctx context.Context, c *cloudSpace, tenants *recorder) {
	GinkgoHelper()

	volumes, err := cluster.Volumes(ctx, c.t)
	Expect(err).NotTo(HaveOccurred())
	Expect(volumes).To(HaveLen(1), "a vCluster has one volume")
	folder, err := cluster.VolumeFolder(&volumes[0])
	Expect(err).NotTo(HaveOccurred())
	Expect(folder).To(BeADirectory())

	const releasePrefix = "sh.helm.release.v1."

	beside := client.InNamespace(rig.Namespace)
	within := []watched{
		{"App Advisor", advisor.Name, recordIn(ctx, c.in, &appsv1.DeploymentList{}, client.InNamespace(advisor.Namespace))},
		{"release of Flux", releasePrefix + flux.ReleaseName + ".v1", recordIn(ctx, c.in, &corev1.SecretList{}, client.InNamespace(flux.Namespace))},
	}
	children := []watched{
		{"AdvisorAgent", c.t.GetName(), record(ctx, &v1alpha1.AdvisorAgentList{}, beside)},
		{"TenantQuota", c.t.GetName(), record(ctx, &v1alpha1.TenantQuotaList{}, beside)},
	}
	release := watched{"release", releasePrefix + releaseOf(c.t) + ".v1", record(ctx, &corev1.SecretList{}, client.InNamespace(namespaceOf(c.t)))}
	namespace := watched{"namespace", namespaceOf(c.t), record(ctx, &corev1.NamespaceList{})}
	volume := watched{"PersistentVolume", volumes[0].GetName(), record(ctx, &corev1.PersistentVolumeList{})}
	kubeconfig := watched{"kubeconfig Secret", publishedKey(c.t).Name, record(ctx, &corev1.SecretList{}, beside)}
	tenant := watched{"Tenant", c.t.GetName(), tenants}

	removeAndWait(ctx, c.t)
	Expect(folder).NotTo(BeAnExistingFile())

	for _, pair := range [][2]watched{
		{children[0], release}, {children[1], release}, {release, namespace}, {namespace, kubeconfig}, {volume, kubeconfig}, {kubeconfig, tenant},
	} {
		first, second := pair[0].went(ctx), pair[1].went(ctx)
		Expect(first.Revision).To(BeNumerically("<", second.Revision), "the %s went after the %s", pair[0].what, pair[1].what)
	}

	for _, w := range within {
		Expect(w.went(ctx).Seen).To(BeTemporally("<", release.went(ctx).Seen), "the %s went after the release", w.what)
	}
}
