// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig/secretscan"
)

// Outputs of the run, beside those that are named by their kind.
const (
	outputLog     = "the provider's log"
	outputMetrics = "the provider's metrics"
	outputReports = "the reports to kubeopera-api"
	outputAudit   = "the audit log"

	metricsEvery = 10 * time.Second
)

// recordSecrets keeps from now on all secrets and all output of the run, and in the end
// finds none of those in that. It returns the socket that takes change logs.
func recordSecrets(ctx SpecContext, kubeconfig []byte) (recording *secretscan.Recording, socket string) {
	GinkgoHelper()

	recording, err := secretscan.Record(ctx, cluster.Config, GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	recording.Secrets.LearnValue("the provider's own kubeconfig", kubeconfig)

	// The path of a socket is short.
	sockets, err := os.MkdirTemp("", "e2e-")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, sockets)

	socket = filepath.Join(sockets, "s")
	Expect(recording.ServeChangeLogs(ctx, socket)).To(Succeed())
	recording.Read(outputAudit, cluster.AuditLog())
	DeferCleanup(func() { expectNoSecrets(recording) })

	return recording, socket
}

// followProvider has what the provider itself puts out scanned as well.
func followProvider(r *secretscan.Recording, p *rig.Provider) {
	r.Read(outputLog, p.LogFile())
	r.Sample(outputMetrics, metricsEvery, 0, p.RawMetrics) // The specs stop it at times.
}

func expectNoSecrets(r *secretscan.Recording) {
	GinkgoHelper()

	for i, body := range kubeopera.Bodies() {
		r.Write(outputReports, fmt.Sprintf("report %d", i+1), body)
	}

	for i, secret := range kubeopera.Credentials() {
		r.Secrets.LearnValue(fmt.Sprintf("kubeopera-api's credential %d", i), []byte(secret))
	}

	r.Stop()

	result, err := r.Scan()
	Expect(err).NotTo(HaveOccurred())
	GinkgoWriter.Println("secrets in the output of this run:", result.String())

	outputs := []string{outputLog, outputMetrics, outputAudit, "ClusterProviderConfig"}
	if s, _ := GinkgoConfiguration(); len(s.FocusStrings)+len(s.FocusFiles)+len(s.SkipStrings) == 0 {
		outputs = append(outputs, outputReports, secretscan.ChangeLogs, "Event", "Tenant", "AdvisorAgent", "TenantQuota", "ProviderConfigUsage", "ConfigMap")
	}

	Expect(result.Err(outputs...)).To(Succeed())
}
