// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/figures"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// result are the figures of a run.
type result struct {
	Began   time.Time `json:"began"`
	Seconds float64   `json:"seconds"`
	// Asked is the time for which Tenants were made.
	Asked string    `json:"asked"`
	Seed  uint64    `json:"seed"`
	On    rig.Facts `json:"on"`

	AtATime    int            `json:"tenantsAtATime"`
	Tenants    int            `json:"tenants"`
	Operations map[string]int `json:"operations"`
	Faults     map[string]int `json:"faults"`
	Kills      int            `json:"kills"`
	// Host are the provider's requests to the host API, and Kubeopera those to
	// kubeopera-api.
	Host      rig.HostFaultCounts `json:"hostAPI"`
	Kubeopera rig.FakeAttempts    `json:"kubeoperaAPI"`

	// Recovery is how long Tenants took to be right again, by what was done.
	Recovery map[string]recovery `json:"recovery"`
	Overall  recovery            `json:"recoveryOverall"`

	Early  *rest    `json:"atRestEarly,omitempty"`
	Late   *rest    `json:"atRestLate,omitempty"`
	Bounds *rest    `json:"mayBeAdded,omitempty"`
	Wrongs []string `json:"wrong"`
}

// recovery are durations, in seconds.
type recovery struct {
	Times  int     `json:"times"`
	Median float64 `json:"medianSeconds"`
	Max    float64 `json:"maxSeconds"`
}

func recoveryOf(all []time.Duration) recovery {
	if len(all) == 0 {
		return recovery{}
	}

	return recovery{Times: len(all), Median: figures.Median(all).Seconds(), Max: slices.Max(all).Seconds()}
}

func (s *soak) result() result {
	t := s.diary.tally()

	r := result{
		Began: s.began.UTC(), Seconds: time.Since(s.began).Seconds(), Asked: s.flags.Time.String(), Seed: s.flags.Seed, On: s.facts,
		AtATime: s.flags.Tenants, Tenants: s.lives.count(), Operations: t.operations, Faults: t.faults, Kills: s.kills,
		Host: s.proxy.Counts(), Kubeopera: s.kubeopera.Attempts(),
		Recovery: map[string]recovery{}, Overall: recoveryOf(flat(t.recoveries)),
		Early: s.early, Late: s.late, Wrongs: t.wrongs,
	}

	if s.early != nil && s.late != nil {
		r.Bounds = ptr.To(mayBeAdded(s.late.Tenants - s.early.Tenants))
	}

	for kind, all := range t.recoveries {
		r.Recovery[kind] = recoveryOf(all)
	}

	return r
}

// flat are the values of all keys.
func flat[T any](m map[string][]T) []T {
	var out []T
	for _, all := range m {
		out = append(out, all...)
	}

	return out
}

// table shows the figures to a person.
func (r result) table() string {
	var b strings.Builder

	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }

	line("\n%s\n%d Tenants, %d at a time, in %.0f s (%s asked for), seed %d, %d kills\n", r.On, r.Tenants, r.AtATime, r.Seconds, r.Asked, r.Seed, r.Kills)
	line("operation\ttimes\tright again\tmedian\tmax")

	for _, kind := range slices.Sorted(maps.Keys(merge(r.Operations, r.Recovery))) {
		m := r.Recovery[kind]
		line("%s\t%d\t%d\t%.1f s\t%.1f s", kind, r.Operations[kind], m.Times, m.Median, m.Max)
	}

	line("all\t%d\t%d\t%.1f s\t%.1f s\n", figures.Sum(r.Operations), r.Overall.Times, r.Overall.Median, r.Overall.Max)
	line("fault\ttimes")

	for _, kind := range slices.Sorted(maps.Keys(r.Faults)) {
		line("%s\t%d", kind, r.Faults[kind])
	}

	line("\nrequests to the host API\t%d, of them %d delayed, %d refused, %d reset; %d watches cut", r.Host.Requests, r.Host.Delayed, r.Host.Refused, r.Host.Reset, r.Host.CutWatches)
	line("requests to kubeopera-api\t%d reports, of them %d repeats; %d tokens, %d unauthorized", r.Kubeopera.Puts, r.Kubeopera.Repeats, r.Kubeopera.Tokens, r.Kubeopera.Unauthorized)

	if r.Bounds != nil {
		line("at rest, early\t%s\nat rest, at the end\t%s\nmay be added after %d Tenants\t%s", r.Early, r.Late, r.Bounds.Tenants, r.Bounds)
	}

	line("wrong\t%d", len(r.Wrongs))

	_ = w.Flush() // A strings.Builder takes everything.

	return b.String()
}

// merge are the keys of both.
func merge(a map[string]int, b map[string]recovery) map[string]bool {
	out := map[string]bool{}
	for k := range a {
		out[k] = true
	}

	for k := range b {
		out[k] = true
	}

	return out
}

// verdict errs when anything was wrong, or when there was too little to be wrong.
func (r result) verdict() error {
	if len(r.Wrongs) == 0 {
		if r.Kills == 0 || len(r.Faults) == 0 || r.Overall.Times == 0 || r.Bounds == nil || r.Bounds.Tenants == 0 {
			return errNothing
		}

		return nil
	}

	return fmt.Errorf("%w, %d times:\n  %s", errWrong, len(r.Wrongs), strings.Join(r.Wrongs, "\n  "))
}
