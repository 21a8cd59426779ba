// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package crossplane

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig/secretscan"
)

const (
	outputLogs  = "the logs of the providers"
	outputAudit = "the audit log"

	// logsEvery is how often logs are read, for pods do not live as long as the suite.
	logsEvery = 10 * time.Second
	// overlap is more than the time from one reading to the next.
	overlap = "30s"
)

// recordSecrets keeps from now on all secrets and all output of the run, and in the end
// finds none of those in that.
func recordSecrets(ctx SpecContext) {
	GinkgoHelper()

	r, err := secretscan.Record(ctx, cluster.Config, GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	r.Read(outputAudit, cluster.AuditLog())
	r.Sample(outputLogs, logsEvery, func(ctx context.Context) ([]byte, error) { return logs(ctx, "--since="+overlap) })

	DeferCleanup(func(ctx SpecContext) {
		whole, err := logs(ctx)
		Expect(err).NotTo(HaveOccurred())
		r.Write(outputLogs, "at the end", whole)
		r.Stop()

		result, err := r.Scan()
		Expect(err).NotTo(HaveOccurred())
		GinkgoWriter.Println("secrets in the output of this run:", result.String())
		Expect(result.Err(outputLogs, outputAudit, "Event", "Tenant", "ClusterProviderConfig")).To(Succeed())
	}, NodeTimeout(specLimit))
}

// logs of the pods of all providers.
func logs(ctx context.Context, args ...string) ([]byte, error) {
	out, err := rig.Kubectl(ctx, append([]string{"logs", "--namespace", rig.CrossplaneNamespace, "--selector", labelProvider, "--prefix", "--tail", "-1"}, args...)...)

	return []byte(out), err
}
