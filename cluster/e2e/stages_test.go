// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// stageMetric is the histogram of how long the stages of Tenants take.
const stageMetric = "kubeopera_tenant_stage_seconds"

// stageSums are the seconds and the number of each stage that was completed, by its name.
type stageSums map[string]rig.Seconds

// stageSeconds are the sums over all Tenants since the provider was started.
func stageSeconds(ctx context.Context) stageSums {
	GinkgoHelper()

	m, err := provider.Metrics(ctx)
	Expect(err).NotTo(HaveOccurred())

	return m.SecondsBy(stageMetric, "stage")
}

// since says how long each stage of one Tenant took, which must have passed all of
// them once since then.
func (s stageSums) since(before stageSums) string {
	GinkgoHelper()

	Expect(s).To(HaveKey("Ready"))

	var lines []string

	for stage, now := range s {
		Expect(now.Count-before[stage].Count).To(BeEquivalentTo(1), "%s was completed once", stage)

		took := now.Sum - before[stage].Sum
		Expect(math.Signbit(took)).To(BeFalse(), "%s took %f s", stage, took)
		lines = append(lines, fmt.Sprintf("%-20s %5.1f s", stage, took))
	}

	slices.Sort(lines)

	return strings.Join(lines, "\n")
}

// firsts says when each condition of the Tenant was first seen to be true, from
// when the Tenant was seen.
func (r *recorder) firsts(tenant string) string {
	var (
		created time.Time
		lines   []string
	)

	seen := map[xpv2.ConditionType]bool{}

	for _, c := range r.all() {
		t, ok := c.Object.(*v1alpha1.Tenant)
		if !ok || t.GetName() != tenant {
			continue
		}

		if created.IsZero() {
			created = c.Seen
		}

		for _, cond := range t.Status.Conditions {
			if cond.Status == corev1.ConditionTrue && !seen[cond.Type] {
				seen[cond.Type] = true
				lines = append(lines, fmt.Sprintf("%-20s %6.2f s", cond.Type, c.Seen.Sub(created).Seconds()))
			}
		}
	}

	return strings.Join(lines, "\n")
}
