// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package crossplane

import (
	"context"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig/secretscan"
)

const (
	outputLogs  = "the logs of the providers and functions"
	outputAudit = "the audit log"

	// labelFunction is on the pods of each function.
	labelFunction = "pkg.crossplane.io/function"

	// logsEvery is how often logs are read, for pods do not live as long as the suite.
	logsEvery = 10 * time.Second
	// overlap is how far back they are read: for so long readings may fail.
	overlap = 40 * time.Second
)

// composites are the kinds of the configurations' own.
var composites = []schema.GroupVersionResource{
	{Group: "platform.kubeopera.io", Version: "v1alpha1", Resource: "cloudspaces"},
	{Group: "claims.kubeopera.io", Version: "v1alpha1", Resource: "cloudspaces"},
	{Group: "claims.kubeopera.io", Version: "v1alpha1", Resource: "xcloudspaces"},
}

// recordSecrets keeps from now on all secrets and all output of the run, and in the end
// finds none of those in that.
func recordSecrets(ctx SpecContext) {
	GinkgoHelper()

	r, err := secretscan.Record(ctx, cluster.Config, GinkgoT().TempDir(), composites...)
	Expect(err).NotTo(HaveOccurred())
	r.Read(outputAudit, cluster.AuditLog())
	r.Sample(outputLogs, logsEvery, overlap, func(ctx context.Context) ([]byte, error) { return logs(ctx, "--since="+overlap.String()) })

	DeferCleanup(func(ctx SpecContext) {
		whole, err := logs(ctx)
		Expect(err).NotTo(HaveOccurred())
		r.Write(outputLogs, "at the end", whole)
		r.Stop()

		result, err := r.Scan()
		Expect(err).NotTo(HaveOccurred())
		GinkgoWriter.Println("secrets in the output of this run:", result.String())
		Expect(result.Err(outputLogs, outputAudit, "Event", "Tenant", "ClusterProviderConfig", "CloudSpace")).To(Succeed())
	}, NodeTimeout(specLimit))
}

// logs of the pods of all providers and functions that run or have run.
func logs(ctx context.Context, args ...string) ([]byte, error) {
	var out []byte

	for _, label := range []string{labelProvider, labelFunction} {
		pods := &corev1.PodList{}
		if err := cluster.Client.List(ctx, pods, client.InNamespace(rig.CrossplaneNamespace), client.HasLabels{label}); err != nil {
			return nil, err
		}

		for i := range pods.Items {
			p := &pods.Items[i]
			if !hasRun(p) {
				continue // It has put out nothing, and kubectl errs.
			}

			all, err := rig.Kubectl(ctx, append([]string{"logs", "--namespace", p.GetNamespace(), p.GetName(), "--prefix", "--tail", "-1"}, args...)...)
			if err != nil {
				return nil, err
			}

			out = append(out, all...)
		}
	}

	return out, nil
}

func hasRun(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.State.Waiting == nil || c.LastTerminationState.Terminated != nil
	})
}
