// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/figures"
)

// Targets, for Tenants that are Ready and unchanged at the default poll.
const (
	// maxReads of all APIs, per Tenant and poll, its TenantQuota's among them.
	maxReads = 1.0
	// maxCores and maxResident, in bytes, of a provider at rest.
	maxCores    = 0.05
	maxResident = 250 << 20
	// minThroughput of Tenants, of that of bare Helm.
	minThroughput = 0.9
	// maxFirst is how many seconds a new Tenant may wait for its first reconcile.
	maxFirst = 1.0
	// maxReady is the time of a new Tenant among others, of that of one without others.
	maxReady = 1.1
	// maxPerTenant bytes of heap, and of RSS.
	maxPerTenant = 100 << 10
	// minOfFew is the throughput of 1,000 Tenants, of that of 100.
	minOfFew = 0.8
	// maxGrowth is the heap after many reconciles, of that after few.
	maxGrowth = 1.05
)

// unmeasured stands for a figure that was not asked for.
const unmeasured = "-"

// row of the table: a figure at each step.
type row struct {
	what   string
	target string
	// of is the figure at a step, and whether it meets the target, if there is one.
	of func(r result, s step) (figure string, met bool)
}

func rows() []row {
	plain := func(figure func(s step) string) func(result, step) (string, bool) {
		return func(_ result, s step) (string, bool) { return figure(s), true }
	}

	return []row{
		{"Bare Helm, releases deployed per s", "", plain(func(s step) string { return rate(s.Tenants, s.Bare.Deployed) })},
		{"Tenants, releases deployed per s", "", plain(func(s step) string { return rate(s.Tenants, s.Create.Deployed) })},
		{"… of bare Helm's", fmt.Sprintf("≥ %g", minThroughput), func(_ result, s step) (string, bool) { return compared(s.Bare.Deployed, s.Create.Deployed) }},
		{"Bare Helm, control planes ready per s", "", plain(func(s step) string { return rate(s.Tenants, s.Bare.Ready) })},
		{"Tenants Ready per s", "", plain(func(s step) string { return rate(s.Tenants, s.Create.Ready) })},
		{"… of bare Helm's", fmt.Sprintf("≥ %g", minThroughput), func(_ result, s step) (string, bool) { return compared(s.Bare.Ready, s.Create.Ready) }},
		{"CPU time of the machine per bare release", "", plain(func(s step) string { return s.BareCPU.whole() })},
		{"CPU time of the machine per Tenant", "", plain(func(s step) string { return s.CreateCPU.whole() })},
		{"Provider without Tenants: RSS", "", plain(func(s step) string { return mebibytes(s.Idle.Resident) })},
		{"… heap after a collection", "", plain(func(s step) string { return mebibytes(s.Idle.Heap) })},
		{"Provider while it creates: cores", "", plain(func(s step) string { return fmt.Sprintf("%.2f", s.Load.Cores) })},
		{"… RSS", "", plain(func(s step) string { return mebibytes(float64(s.Load.Resident)) })},
		{"… descriptors", "", plain(func(s step) string { return fmt.Sprint(s.Load.Descriptors) })},
		{"… goroutines, when all are Ready", "", plain(func(s step) string { return fmt.Sprintf("%.0f", s.Load.Goroutines) })},
		{"… requests to the host per Tenant", "", plain(func(s step) string { return perTenant(s.CreateRequests.Host.requests(), s.Tenants) })},
		{"… requests to the Tenants' cluster per Tenant", "", plain(func(s step) string { return perTenant(s.CreateRequests.Own.requests(), s.Tenants) })},
		{"… requests to the tenant's API per Tenant", "", plain(func(s step) string { return perTenant(s.CreateRequests.Inside.requests(), s.Tenants) })},
		{"… reconciles per Tenant, of all kinds", "", plain(func(s step) string { return perTenant(int(figures.Sum(s.CreateReconciles)), s.Tenants) })},
		{"At rest: writes per Tenant and poll", "0", func(_ result, s step) (string, bool) {
			n := s.RestRequests.Host.writes() + s.RestRequests.Own.writes() + s.RestRequests.Inside.writes()
			return s.perPoll(n), n == 0
		}},
		{"… reads of all APIs per Tenant and poll, with its TenantQuota", fmt.Sprintf("≤ %g", maxReads), func(_ result, s step) (string, bool) {
			// Rounded as it is shown: the rest begins or ends between the two polls of some Tenants, of which one reads.
			return s.perPoll(s.reads()), math.Round(100*perPoll(s.reads(), s.Tenants, s.Polls)) <= 100*maxReads
		}},
		{"… of those of the host", "", plain(func(s step) string { return s.perPoll(s.RestRequests.Host.reads()) })},
		{"… of those of the Tenants' cluster", "", plain(func(s step) string { return s.perPoll(s.RestRequests.Own.reads()) })},
		{"… of those of the tenant's API", "", plain(func(s step) string { return s.perPoll(s.RestRequests.Inside.reads()) })},
		{"… reads per poll of a Tenant or TenantQuota", "", plain(func(s step) string {
			return fmt.Sprintf("%.2f", float64(s.reads())/(s.RestReconciles[tenantController]+s.RestReconciles[quotaController]))
		})},
		{"… cores", fmt.Sprintf("< %g", maxCores), func(_ result, s step) (string, bool) {
			return fmt.Sprintf("%.3f", s.Rest.Cores), s.Rest.Cores < maxCores
		}},
		{"… RSS", fmt.Sprintf("< %d MiB", maxResident>>20), func(_ result, s step) (string, bool) {
			return mebibytes(float64(s.Rest.Resident)), s.Rest.Resident < maxResident
		}},
		{"… heap after a collection", "", plain(func(s step) string { return mebibytes(s.RestMemory.Heap) })},
		{"… goroutines", "", plain(func(s step) string { return fmt.Sprintf("%.0f", s.RestMemory.Goroutines) })},
		{"… descriptors", "", plain(func(s step) string { return fmt.Sprint(s.Rest.Descriptors) })},
		{"New Tenant: first reconciled, median", fmt.Sprintf("< %g s", maxFirst), func(_ result, s step) (string, bool) {
			return figures.Median(s.Among.First).String(), time.Duration(figures.Median(s.Among.First)).Seconds() < maxFirst
		}},
		{"… Ready, median", "", plain(func(s step) string { return figures.Median(s.Among.Ready).String() })},
		{"… the same, of that on an empty host", fmt.Sprintf("≤ %g", maxReady), func(r result, s step) (string, bool) {
			return ratio(figures.Median(s.Among.Ready), figures.Median(r.Empty.Ready)), over(figures.Median(s.Among.Ready), figures.Median(r.Empty.Ready)) <= maxReady
		}},
		{"Bare Helm, releases and namespaces gone per s", "", plain(func(s step) string { return rate(s.Tenants, s.BareDelete) })},
		{"Tenants gone per s", "", plain(func(s step) string { return rate(s.Tenants, s.Delete) })},
		{"… of bare Helm's", "", func(_ result, s step) (string, bool) { return compared(s.BareDelete, s.Delete) }},
	}
}

func (s step) reads() int {
	return s.RestRequests.Host.reads() + s.RestRequests.Own.reads() + s.RestRequests.Inside.reads()
}

func (s step) perPoll(n int) string { return fmt.Sprintf("%.2f", perPoll(n, s.Tenants, s.Polls)) }

// table shows the figures in Markdown.
func (r result) table() string {
	var b strings.Builder

	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }

	head, rule := []string{"Tenants", "Target"}, []string{"---", "---"}
	steps := slices.DeleteFunc(slices.Clone(r.Steps), func(s step) bool { return !s.Complete })
	for _, s := range steps {
		head, rule = append(head, fmt.Sprint(s.Tenants)), append(rule, "---")
	}

	line(head)
	line(rule)

	for _, w := range rows() {
		cells := []string{w.what, w.target}

		for _, s := range steps {
			figure, met := w.of(r, s)
			if w.target != "" && figure != unmeasured {
				figure += verdict(met)
			}

			cells = append(cells, figure)
		}

		line(cells)
	}

	fmt.Fprintf(&b, "\nOn an empty host a new Tenant is first reconciled after %s and Ready after %s (medians of %d, after one that warms up).\n",
		figures.Median(r.Empty.First), figures.Median(r.Empty.Ready), len(r.Empty.Ready))

	for _, s := range steps {
		fmt.Fprintf(&b, "CPU time by program at %d: a bare release %s, a Tenant %s.\n", s.Tenants, s.BareCPU, s.CreateCPU)
	}

	for _, l := range r.across() {
		b.WriteString(l + "\n")
	}

	return b.String()
}

// verdict stands behind a figure that has a target.
func verdict(met bool) string {
	if met {
		return " (met)"
	}

	return " (**missed**)"
}

// compared is our throughput against that of bare Helm, by the times that both took.
func compared(bare, ours seconds) (string, bool) {
	if bare == 0 {
		return unmeasured, true
	}

	return ratio(bare, ours), over(bare, ours) >= minThroughput
}

// across are the figures of more than one step.
func (r result) across() []string {
	var out []string

	if i, j := r.index(100), r.index(1000); i >= 0 && j >= 0 {
		few, many := r.Steps[i], r.Steps[j]
		heap := (many.RestMemory.Heap - few.RestMemory.Heap) / float64(many.Tenants-few.Tenants)
		resident := (float64(many.Rest.Resident) - float64(few.Rest.Resident)) / float64(many.Tenants-few.Tenants)
		slower := throughput(many) / throughput(few)

		out = append(out,
			fmt.Sprintf("From 100 to 1,000 Tenants the heap grows by %.0f KiB a Tenant, and RSS by %.0f KiB, at most %d%s.",
				heap/1024, resident/1024, maxPerTenant>>10, verdict(max(heap, resident) < maxPerTenant)),
			fmt.Sprintf("Throughput at 1,000 is %.2f of that at 100, at least %g%s.", slower, minOfFew, verdict(slower >= minOfFew)))
	}

	if g := r.Growth; g != nil {
		by := g.Many.Heap / g.Few.Heap
		out = append(out, fmt.Sprintf("With %d foreign CRDs the heap after 1,000 reconciles is %s, %.3f of the %s after 100, at most %g%s.",
			g.ForeignCRDs, mebibytes(g.Many.Heap), by, mebibytes(g.Few.Heap), maxGrowth, verdict(by <= maxGrowth)))
	}

	return out
}

func (r result) index(tenants int) int {
	return slices.IndexFunc(r.Steps, func(s step) bool { return s.Tenants == tenants && s.Complete })
}

func throughput(s step) float64 { return float64(s.Tenants) / time.Duration(s.Create.Ready).Seconds() }

// over is a divided by b; 0 when b was not measured.
func over(a, b seconds) float64 {
	if b == 0 {
		return 0
	}

	return float64(a) / float64(b)
}

func ratio(a, b seconds) string { return fmt.Sprintf("%.2f", over(a, b)) }

func rate(n int, d seconds) string {
	if d == 0 {
		return unmeasured
	}

	return fmt.Sprintf("%.2f", float64(n)/time.Duration(d).Seconds())
}

func perTenant(n, tenants int) string { return fmt.Sprintf("%.1f", float64(n)/float64(tenants)) }

func mebibytes(bytes float64) string { return fmt.Sprintf("%.1f MiB", bytes/(1<<20)) }
