// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// stageFamily is the provider's histogram of how long each stage took.
const stageFamily = "kubeopera_tenant_stage_seconds"

// stages are the seconds that stages took, in all, and how often, by their name.
type stages map[string]rig.Seconds

func readStages(ctx context.Context, p *rig.Provider) (stages, error) {
	m, err := p.Metrics(ctx)
	if err != nil {
		return nil, err
	}

	return m.SecondsBy(stageFamily, "stage"), nil
}

// since is what was added to before.
func (s stages) since(before stages) stages {
	out := stages{}

	for name, now := range s {
		if d := (rig.Seconds{Sum: now.Sum - before[name].Sum, Count: now.Count - before[name].Count}); d.Count > 0 {
			out[name] = d
		}
	}

	return out
}

func (s stages) add(more stages) {
	for name, m := range more {
		s[name] = rig.Seconds{Sum: s[name].Sum + m.Sum, Count: s[name].Count + m.Count}
	}
}

// table shows the mean of each stage. Those inside the vCluster run side by side.
func (s stages) table() string {
	var b strings.Builder

	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)

	_, _ = fmt.Fprintln(w, "stage of a whole CloudSpace\tmean\t")
	for _, name := range slices.Sorted(maps.Keys(s)) {
		_, _ = fmt.Fprintf(w, "%s\t%.2f s\t\n", name, s[name].Sum/float64(s[name].Count))
	}

	_ = w.Flush() // A strings.Builder takes everything.

	return b.String()
}
