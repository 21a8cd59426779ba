// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

// Package crossplane proves what teams do with the packages: on a real cluster
// with Crossplane, which runs the provider as a pod under its own account.
package crossplane

import (
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

const (
	installLimit = 6 * time.Minute
	// specLimit is more than any wait in a spec.
	specLimit  = 5 * time.Minute
	readyLimit = 2 * time.Minute
	goneLimit  = 2 * time.Minute
	// upgradeLimit is how long a package may take to be replaced.
	upgradeLimit = 2 * time.Minute
	// promptly is how long what needs no workload may take.
	promptly = 30 * time.Second
	// collectLimit is how long the garbage collector may take for what has lost its
	// owner: it learns of a new kind within half a minute.
	collectLimit = time.Minute
	pollEvery    = 200 * time.Millisecond
)

// What all specs share.
var (
	cluster *rig.Cluster
	root    string
)

func TestCrossplane(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "CloudSpaces by Crossplane on a real cluster")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrllog.SetLogger(GinkgoLogr)

	var err error
	root, err = rig.Root()
	Expect(err).NotTo(HaveOccurred())

	cluster, err = rig.Connect()
	Expect(err).NotTo(HaveOccurred())
	Expect(cluster.InstallPackages(ctx, root, say)).To(Succeed())
	recordSecrets(ctx)
}, NodeTimeout(installLimit))

// Nothing of a Tenant may be left, whoever made it.
var _ = AfterSuite(func(ctx SpecContext) {
	if cluster == nil {
		return
	}

	Eventually(ctx, cluster.Remaining).WithTimeout(collectLimit).WithPolling(pollEvery).Should(BeEmpty())
}, NodeTimeout(specLimit))

// A failure without what the cluster looked like then is worth little.
var _ = JustAfterEach(func(ctx SpecContext) {
	if CurrentSpecReport().Failed() {
		AddReportEntry("the cluster at the failure", cluster.DescribeAll(ctx))
	}
}, NodeTimeout(time.Minute))

func say(format string, args ...any) { GinkgoWriter.Printf(format+"\n", args...) }
