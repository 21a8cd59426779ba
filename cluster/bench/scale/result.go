// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// seconds are a time, as JSON has it.
type seconds time.Duration

// String is for a person.
func (s seconds) String() string { return fmt.Sprintf("%.2f s", time.Duration(s).Seconds()) }

// MarshalJSON writes them as a number.
func (s seconds) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(s).Seconds()) }

// share is that of one of n.
func (s seconds) share(n int) seconds { return seconds(time.Duration(s) / time.Duration(n)) }

// result is all that was measured.
type result struct {
	Command  string    `json:"command"`
	Date     time.Time `json:"date"`
	Settings []string  `json:"settings,omitempty"`
	Facts    rig.Facts `json:"facts"`
	// Empty are new Tenants on a host without others.
	Empty samples `json:"emptyHost"`
	Steps []step  `json:"steps"`
	// Growth of the heap; nil if it was not measured.
	Growth *growth `json:"growth,omitempty"`
}

// samples of new Tenants.
type samples struct {
	First []seconds `json:"firstReconciled"`
	Ready []seconds `json:"ready"`
}

// creation is how long it took until all of a step were there.
type creation struct {
	Deployed seconds `json:"deployed"`
	Ready    seconds `json:"ready"`
}

// step is what was measured at one number of Tenants.
type step struct {
	Tenants int `json:"tenants"`
	// Complete says that all of it was measured. Otherwise the table leaves it out.
	Complete bool `json:"complete"`
	// Bare is what bare Helm took for as many releases, and Create what the provider did.
	Bare       creation `json:"bare"`
	BareDelete seconds  `json:"bareDelete"`
	// BareCPU and CreateCPU are what both took of the machine, by a release or Tenant.
	BareCPU   cpu      `json:"bareCPU"`
	CreateCPU cpu      `json:"createCPU"`
	Create    creation `json:"create"`
	Delete    seconds  `json:"delete"`

	// Idle is before there was any Tenant.
	Idle rig.Footprint `json:"idle"`
	Load load          `json:"load"`
	Rest load          `json:"rest"`
	// RestMemory is after the rest.
	RestMemory rig.Footprint `json:"restMemory"`
	// Polls of a Tenant in the rest, on average.
	Polls            float64            `json:"polls"`
	CreateRequests   requests           `json:"createRequests"`
	RestRequests     requests           `json:"restRequests"`
	CreateReconciles map[string]float64 `json:"createReconciles"`
	RestReconciles   map[string]float64 `json:"restReconciles"`

	// Among are new Tenants beside those that are Ready.
	Among samples `json:"among"`
}

// growth of the heap over many reconciles.
type growth struct {
	ForeignCRDs int           `json:"foreignCRDs"`
	Tenants     int           `json:"tenants"`
	Few         rig.Footprint `json:"after100"`
	Many        rig.Footprint `json:"after1000"`
}

func (r result) head() string {
	return fmt.Sprintf("%s\n%s\ncommand: %s", r.Date.Format(time.RFC3339), r.Facts, r.Command)
}

// restLines list what was asked for at rest, per Tenant and poll.
func (s step) restLines() []string {
	out := []string{fmt.Sprintf("%d Tenants at rest, %.2f polls of each; count, per Tenant and poll, request", s.Tenants, s.Polls)}

	for _, p := range []struct {
		where string
		c     counts
	}{{"the host", s.RestRequests.Host}, {"the Tenants' own cluster", s.RestRequests.Own}, {"tenants' APIs", s.RestRequests.Inside}} {
		out = append(out, "to "+p.where+":")
		out = append(out, p.c.lines(s.Tenants, s.Polls)...)
	}

	for _, name := range slices.Sorted(maps.Keys(s.RestReconciles)) {
		out = append(out, fmt.Sprintf("%8.0f  %6.2f  reconciles of %s", s.RestReconciles[name], s.RestReconciles[name]/float64(s.Tenants)/s.Polls, name))
	}

	return out
}
