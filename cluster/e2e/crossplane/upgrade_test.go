// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package crossplane

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// upgrade raises all packages to the version at once, as the guide says, and waits
// until Crossplane has them.
func upgrade(ctx context.Context, version string) {
	GinkgoHelper()
	Expect(version).NotTo(BeEmpty(), "UPGRADE must name a version that the registry has: run this by make e2e-crossplane")

	var all []*unstructured.Unstructured

	for _, f := range []string{"provider.yaml", "function.yaml", "configurations.yaml"} {
		of, err := rig.ReadManifests(filepath.Join(root, "examples", "install", f))
		Expect(err).NotTo(HaveOccurred())

		all = append(all, of...)
	}

	for _, o := range all {
		source := field(o, "spec", "package")
		o.Object["spec"].(map[string]any)["package"] = source[:strings.LastIndex(source, ":")+1] + version
		Expect(cluster.Apply(ctx, o)).To(Succeed())
	}

	for _, o := range all {
		Eventually(ctx, func(ctx context.Context) (string, error) {
			err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
			return fmt.Sprintf("%s %v", field(o, "status", "currentIdentifier"), rig.ConditionOf(o, "Healthy")["status"]), err
		}).WithTimeout(upgradeLimit).WithPolling(pollEvery).Should(HaveSuffix(":"+version+" True"), func() string {
			return rig.DescribeConditions(o)
		})
	}
}

// reconciled has the Tenant of the composite looked at once more, and waits for it.
func reconciled(ctx context.Context, xr *unstructured.Unstructured) {
	GinkgoHelper()

	token := "after-the-upgrade"
	t := tenantOf(ctx, xr)
	before := t.DeepCopy()
	meta.AddAnnotations(t, map[string]string{meta.AnnotationKeyReconcileRequestedAt: token})
	Expect(cluster.Client.Patch(ctx, t, client.MergeFrom(before))).To(Succeed())
	Eventually(ctx, func(ctx context.Context) string {
		return tenantOf(ctx, xr).Status.LastHandledReconcileAt
	}).WithTimeout(promptly).WithPolling(pollEvery).Should(Equal(token))
	eventuallyReady(ctx, xr)
}

// footprint are the pods in the host namespace of a CloudSpace, with how often they
// were started, and the revisions of its releases.
func footprint(ctx context.Context, xr *unstructured.Unstructured) []string {
	GinkgoHelper()

	in := client.InNamespace(field(xr, "status", "namespace"))

	var out []string

	pods := &corev1.PodList{}
	Expect(cluster.Client.List(ctx, pods, in)).To(Succeed())

	for i := range pods.Items {
		p := &pods.Items[i]
		for _, c := range p.Status.ContainerStatuses {
			out = append(out, fmt.Sprintf("pod %s %s/%d", p.GetUID(), c.Name, c.RestartCount))
		}
	}

	releases := &corev1.SecretList{}
	Expect(cluster.Client.List(ctx, releases, in, client.MatchingLabels{"owner": "helm"})).To(Succeed())

	for i := range releases.Items {
		out = append(out, releases.Items[i].GetName())
	}

	return out
}
