// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// What all specs share.
var (
	cluster   *rig.Cluster
	provider  *rig.Provider
	kubeopera *rig.FakeKubeoperaAPI
	root      string
)

func TestE2E(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Tenants on a real cluster")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	ctrllog.SetLogger(GinkgoLogr)

	var err error
	root, err = rig.Root()
	Expect(err).NotTo(HaveOccurred())

	cluster, err = rig.Connect()
	Expect(err).NotTo(HaveOccurred())
	Expect(cluster.Install(ctx, root)).To(Succeed())

	kubeconfig, err := cluster.ProviderKubeconfig(ctx)
	Expect(err).NotTo(HaveOccurred())

	kubeopera, err = rig.StartFakeKubeoperaAPI(ctx, rig.FakeKubeoperaAPIOptions{
		Address: "127.0.0.1:0", ClientID: clientID, ClientSecret: clientSecret,
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(kubeopera.Down()).To(Succeed()) })

	folder := GinkgoT().TempDir()
	recording, changeLogs := recordSecrets(ctx, kubeconfig)

	binary := cmp.Or(os.Getenv("KUBEOPERA_PROVIDER"), filepath.Join(root, "bin", "provider"))
	provider, err = rig.NewProvider(binary, folder, kubeconfig, "DEBUG=true", "ADVISOR_IMAGE="+rig.FakeAdvisorImage,
		"ENABLE_CHANGELOGS=true", "CHANGELOGS_SOCKET_PATH="+changeLogs,
		"KUBEOPERA_API_BASE_URL="+kubeopera.URL(), "SERVICE_CLIENT_ID="+clientID, "SERVICE_CLIENT_SECRET="+clientSecret)
	Expect(err).NotTo(HaveOccurred())
	Expect(provider.Start(ctx)).To(Succeed())
	DeferCleanup(func() { Expect(provider.Stop()).To(Succeed()) })
	followProvider(recording, provider)
}, NodeTimeout(2*time.Minute))

var _ = AfterSuite(func(ctx SpecContext) {
	if provider == nil {
		return // Nothing was ever made.
	}

	Eventually(ctx, cluster.Remaining).WithTimeout(collectLimit).WithPolling(pollEvery).Should(BeEmpty())
}, NodeTimeout(specLimit))

// A failure without what the cluster looked like then is worth little.
var _ = JustAfterEach(func(ctx SpecContext) {
	if CurrentSpecReport().Failed() {
		AddReportEntry("the cluster at the failure", cluster.DescribeAll(ctx))
		AddReportEntry("the end of the provider's log", provider.Tail(60))
	}
}, NodeTimeout(time.Minute))
