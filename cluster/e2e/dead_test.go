// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

const (
	// skipLimit is how long a Tenant whose API is dead may wait for what is inside.
	// Of it, 20 s are the budget.
	skipLimit = 35 * time.Second
	// deadLimit is how long its namespace may take to go then. Kubernetes looks again
	// after half the longest grace period of the pods in it, and Flux's have a minute.
	deadLimit = 2 * time.Minute
)

func itGoesWithADeadAPI(c *cloudSpace) {
	It("D5: goes in time when its API is dead, and lists what was skipped", func(ctx SpecContext) {
		By("ending its API")
		// The provider would bring it back.
		annotate(ctx, c.t, meta.AnnotationKeyReconciliationPaused, "true")
		_, err := rig.Kubectl(ctx, "scale", "statefulset", releaseOf(c.t), "-n", namespaceOf(c.t), "--replicas=0")
		Expect(err).NotTo(HaveOccurred())

		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespaceOf(c.t), Name: releaseOf(c.t) + "-0"}}
		eventuallyGone(ctx, pod)

		By("deleting the Tenant")
		Expect(cluster.Client.Delete(ctx, c.t)).To(Succeed())
		annotate(ctx, c.t, meta.AnnotationKeyReconciliationPaused, "")
		Eventually(ctx, func(ctx context.Context) []corev1.Secret {
			return records(ctx, c.t)
		}).WithTimeout(skipLimit).WithPolling(pollEvery).Should(BeEmpty(), func() string { return describe(c.t) })
		Eventually(ctx, func(ctx context.Context) error {
			return cluster.Client.Get(ctx, client.ObjectKeyFromObject(c.t), c.t)
		}).WithTimeout(deadLimit).WithPolling(pollEvery).Should(MatchError(kerrors.IsNotFound, "not found"), func() string { return describe(c.t) })
		expectNothingLeft(ctx, c.t)

		By("reading the events")
		Expect(eventsOf(ctx, c.t, "DeletionSkipped")).To(ConsistOf(And(HavePrefix("Tenant: "), ContainSubstring("Flux"), ContainSubstring("cannot be reached"))))
		Expect(eventsOf(ctx, c.t, "CleanupSkipped")).To(ConsistOf(
			And(ContainSubstring("Namespace app-advisor"), ContainSubstring("ClusterRole")),
			ContainSubstring("ResourceQuota"),
		))
	}, SpecTimeout(specLimit))
}

// eventsOf are the messages of the events, of that reason, on the Tenant and on
// what is beside it under its name.
func eventsOf(ctx context.Context, o client.Object, reason string) []string {
	GinkgoHelper()

	l := &corev1.EventList{}
	Expect(cluster.Client.List(ctx, l, client.InNamespace(o.GetNamespace()))).To(Succeed())

	var out []string

	for _, e := range l.Items {
		if e.InvolvedObject.Name == o.GetName() && e.Reason == reason {
			out = append(out, fmt.Sprintf("%s: %s", e.InvolvedObject.Kind, e.Message))
		}
	}

	return out
}
