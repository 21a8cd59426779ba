// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/advisor"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
)

// forcedBeside is how often the unchanged objects beside a Tenant are looked at.
const forcedBeside = 10

// looks are the writes that looking at what is unchanged may make.
var looks = []string{"tenants/status", "advisoragents/status", "tenantquotas/status", "events"}

func itWritesNothingUnchanged(c *cloudSpace) {
	It(fmt.Sprintf("writes nothing in %d reconciles", forced), func(ctx SpecContext) {
		agent, quota := c.agent(ctx), c.quota(ctx)
		countersBefore, insideBefore, mark := counters(ctx), c.imprint(ctx), markAudit()

		for i := range forced {
			reconcileNow(ctx, c.t, fmt.Sprintf("unchanged-%d", i))
		}

		for i := range forcedBeside {
			reconcileNow(ctx, agent, fmt.Sprintf("unchanged-%d", i))
			reconcileNow(ctx, quota, fmt.Sprintf("unchanged-%d", i))
		}

		expectStill(ctx, countersBefore)
		expectOnlyLooks(ctx, mark, map[string]int{
			"tenants/status": forced, "advisoragents/status": forcedBeside, "tenantquotas/status": forcedBeside,
		})
		Expect(c.imprint(ctx)).To(Equal(insideBefore))
		Expect(c.t).To(beReady())
	}, SpecTimeout(specLimit))
}

// expectOnlyLooks proves that the provider wrote nothing since the mark but what
// it found, and that at least so often, which shows that the audit log has it.
func expectOnlyLooks(ctx context.Context, mark rig.AuditMark, atLeast map[string]int) {
	GinkgoHelper()

	writes := providerWrites(ctx, mark)
	for kind, n := range atLeast {
		Expect(writes).To(HaveKeyWithValue(kind, BeNumerically(">=", n)))
	}

	for kind, n := range writes {
		Expect(slices.Contains(looks, kind)).To(BeTrue(), "%d writes of %s", n, kind)
	}
}

// imprint are the versions of what the provider keeps inside the vCluster, where
// nobody else changes it.
func (c *cloudSpace) imprint(ctx context.Context) []string {
	GinkgoHelper()

	named := metav1.ObjectMeta{Namespace: advisor.Namespace, Name: advisor.Name}
	unscoped := metav1.ObjectMeta{Name: advisor.Name}
	deployment := &appsv1.Deployment{ObjectMeta: named}
	inner := c.innerQuota(ctx)

	var out []string

	for _, o := range []client.Object{
		deployment, &corev1.Service{ObjectMeta: named}, &corev1.ServiceAccount{ObjectMeta: named},
		&rbacv1.ClusterRole{ObjectMeta: unscoped}, &rbacv1.ClusterRoleBinding{ObjectMeta: unscoped},
		&corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: inner.GetNamespace(), Name: inner.GetName()}},
	} {
		Expect(c.in.Get(ctx, client.ObjectKeyFromObject(o), o)).To(Succeed())
		out = append(out, fmt.Sprintf("%T %s", o, version(o)))
	}

	releases := &corev1.SecretList{}
	Expect(c.in.List(ctx, releases, client.InNamespace(flux.Namespace), client.MatchingLabels{labelOwner: ownerHelm})).To(Succeed())

	for i := range releases.Items {
		out = append(out, version(&releases.Items[i]))
	}

	return append(out, fmt.Sprintf("%s %v", inner.GetUID(), writers(inner)))
}

// writers are those who wrote o, and when. They leave out its status: Kubernetes
// counts in that of a ResourceQuota when it likes.
func writers(o client.Object) []string {
	var out []string

	for _, f := range o.GetManagedFields() {
		if f.Subresource != "status" {
			out = append(out, fmt.Sprintf("%s %s %s", f.Manager, f.Operation, f.Time))
		}
	}

	return out
}
