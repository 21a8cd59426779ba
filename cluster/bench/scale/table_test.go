// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

func sec(n float64) seconds { return seconds(n * float64(time.Second)) }

// measured is a step in which all targets are met.
func measured(tenants int) step {
	n := float64(tenants)

	s := step{
		Tenants: tenants, Polls: 3, Complete: true,
		Bare: creation{Deployed: sec(n / 10), Ready: sec(n / 10)}, Create: creation{Deployed: sec(n / 10), Ready: sec(n / 10)},
		Rest:       load{Cores: 0.01, Resident: 90 << 20},
		RestMemory: rig.Footprint{Heap: 20<<20 + n*1024},
		Among:      samples{First: []seconds{sec(0.2)}, Ready: []seconds{sec(1)}},
	}
	s.RestRequests.Host = counts{{"get", "/x"}: 3 * tenants, {"watch", "/y"}: 1000}
	s.RestReconciles = map[string]float64{tenantController: 3 * n, quotaController: 3 * n}

	return s
}

func TestTable(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(*result)
		// missed is what is said of the one target that is missed; empty if none is.
		missed string
	}{
		"Met":      {reason: "all is as it should be", change: func(*result) {}},
		"Writes":   {reason: "a single write is one too many", change: func(r *result) { r.Steps[1].RestRequests.Own = counts{{"update", "/x"}: 1} }, missed: "writes per Tenant and poll"},
		"Reads":    {reason: "more than one read a poll is too many", change: func(r *result) { r.Steps[0].RestRequests.Inside = counts{{"get", "/z"}: 2} }, missed: "reads of all APIs per Tenant and poll"},
		"Cut":      {reason: "a figure that rounds to the target meets it", change: func(r *result) { r.Steps[0].RestRequests.Inside = counts{{"get", "/z"}: 1} }},
		"Cores":    {reason: "a provider at rest rests", change: func(r *result) { r.Steps[1].Rest.Cores = 0.06 }, missed: "cores"},
		"Resident": {reason: "it is given so much memory", change: func(r *result) { r.Steps[1].Rest.Resident = 250 << 20; r.Steps[0].Rest.Resident = 200 << 20 }, missed: "RSS"},
		"Deployed": {reason: "the provider is as fast as Helm", change: func(r *result) { r.Steps[1].Create.Deployed = sec(112) }, missed: "of bare Helm's"},
		"AllReady": {reason: "also until all are Ready", change: func(r *result) { r.Steps[1].Create.Ready = sec(112) }, missed: "of bare Helm's"},
		"First":    {reason: "a new Tenant waits for no others", change: func(r *result) { r.Steps[1].Among.First = []seconds{sec(0.5), sec(1), sec(2)} }, missed: "first reconciled"},
		"Ready":    {reason: "nor is it slower", change: func(r *result) { r.Steps[1].Among.Ready = []seconds{sec(1.2)} }, missed: "empty host"},
		"PerTenant": {
			reason: "a Tenant takes little memory", change: func(r *result) { r.Steps[1].RestMemory.Heap = 120 << 20 }, missed: "heap grows",
		},
		"ResidentPerTenant": {
			reason: "nor does it hold more than its heap", change: func(r *result) { r.Steps[1].Rest.Resident = 190 << 20 }, missed: "RSS by",
		},
		"Slower": {
			reason: "many are as fast as few", change: func(r *result) { r.Steps[0].Create.Ready = sec(7); r.Steps[0].Bare.Ready = sec(7) }, missed: "Throughput at 1,000",
		},
		"Growth": {reason: "reconciles leave nothing", change: func(r *result) { r.Growth.Many.Heap = 1.06 * r.Growth.Few.Heap }, missed: "foreign CRDs"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := result{
				Empty:  samples{First: []seconds{sec(0.2)}, Ready: []seconds{sec(1)}},
				Steps:  []step{measured(100), measured(1000)},
				Growth: &growth{ForeignCRDs: 300, Tenants: 10, Few: rig.Footprint{Heap: 20 << 20}, Many: rig.Footprint{Heap: 20 << 20}},
			}
			tc.change(&r)

			var missed []string

			for l := range strings.SplitSeq(r.table(), "\n") {
				if strings.Contains(l, "missed") {
					missed = append(missed, l)
				}
			}

			if tc.missed == "" && len(missed) > 0 || tc.missed != "" && (len(missed) != 1 || !strings.Contains(missed[0], tc.missed)) {
				t.Errorf("%s: missed is %q, want one of %q", tc.reason, missed, tc.missed)
			}
		})
	}
}

// TestReadsPerPoll holds that reads are set against the polls that were counted.
func TestReadsPerPoll(t *testing.T) {
	t.Parallel()

	s := measured(100)
	s.RestReconciles[quotaController] = 2 * 100

	if got, want := (result{Steps: []step{s}}).table(), "| … reads per poll of a Tenant or TenantQuota |  | 0.60 |"; !strings.Contains(got, want) {
		t.Errorf("%q is missing in:\n%s", want, got)
	}
}

func TestTableOfNothing(t *testing.T) {
	t.Parallel()

	r := result{Steps: []step{{Tenants: 1}}}
	if got := r.table(); !strings.Contains(got, "| Tenants | Target |\n") {
		t.Errorf("a step that was interrupted is shown:\n%s", got)
	}
}

func TestSecondsAsJSON(t *testing.T) {
	t.Parallel()

	raw, err := json.Marshal(creation{Deployed: sec(0.1), Ready: sec(2)})
	if want := `{"deployed":0.1,"ready":2}`; err != nil || string(raw) != want {
		t.Errorf("got %s, %v, want %s", raw, err, want)
	}
}
