// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// messageWhole is the message of a CloudSpace that has everything.
const messageWhole = "vCluster, Flux and App Advisor ready"

var _ = Describe("A CloudSpace of the default quota", Ordered, ContinueOnFailure, func() {
	c := &cloudSpace{}

	BeforeAll(func(ctx SpecContext) {
		c.t = rig.NewTenant(newNamespace(ctx), "whole")
		c.t.Spec.Flux, c.t.Spec.Advisor = nil, nil
		create(ctx, c.t)
		eventually(ctx, c.t, readyLimit, And(beReady(), say(messageWhole)))
		c.enter(ctx)
	}, NodeTimeout(specLimit))

	BeforeEach(func(ctx SpecContext) { eventually(ctx, c.t, readyLimit, beReady()) }, NodeTimeout(specLimit))

	itLeavesItsQuotaToItsWorkloads(c)
	itWritesNothingUnchanged(c)
	itFollowsARaisedQuota(c)
	itIsRetriedByItsPhase(c)
	itLeavesFluxToWhoTakesItOver(c)
	itGoesWithADeadAPI(c)
})

// cloudSpace is a Tenant and the way into its vCluster.
type cloudSpace struct {
	t    *v1alpha1.Tenant
	in   client.WithWatch // its own API
	file string           // its kubeconfig, for kubectl
}

// enter the vCluster of a Tenant that is Ready.
func (c *cloudSpace) enter(ctx context.Context) {
	GinkgoHelper()

	kubeconfig := secretOf(ctx, c.t).Data[secretKey]
	c.in = inside(kubeconfig)
	c.file = filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(os.WriteFile(c.file, kubeconfig, 0o600)).To(Succeed())
}

// kubectl is run as the tenant's admin, and prints what is returned.
func (c *cloudSpace) kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()

	out, err := rig.Kubectl(ctx, append([]string{"--kubeconfig", c.file}, args...)...)
	Expect(err).NotTo(HaveOccurred())

	return out
}

// agent is the AdvisorAgent that the Tenant has made, quota its TenantQuota.
func (c *cloudSpace) agent(ctx context.Context) *v1alpha1.AdvisorAgent {
	GinkgoHelper()

	a := &v1alpha1.AdvisorAgent{}
	Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(c.t), a)).To(Succeed())

	return a
}

func (c *cloudSpace) quota(ctx context.Context) *v1alpha1.TenantQuota {
	GinkgoHelper()

	q := &v1alpha1.TenantQuota{}
	Expect(cluster.Client.Get(ctx, client.ObjectKeyFromObject(c.t), q)).To(Succeed())

	return q
}
