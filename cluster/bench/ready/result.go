// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/figures"
)

// What a Tenant may take, against bare Helm.
const (
	// boundSame is for the same values: the provider may cost so much.
	boundSame = 1.05
	// boundDefaults is for the chart's defaults: the provider's values must win so much.
	boundDefaults = 0.85
)

var errSlow = errors.New("a Tenant takes too long")

// round is one measurement of each way.
type round struct{ same, tenant, whole, defaults time.Duration }

// result is what the rounds come to: ratios of a Tenant's vCluster to bare Helm,
// and of a whole CloudSpace to the vCluster alone.
type result struct {
	rounds                []round
	same, defaults, whole []float64
}

func summarize(rounds []round) result {
	r := result{rounds: rounds}

	for _, one := range rounds {
		r.same = append(r.same, one.tenant.Seconds()/one.same.Seconds())
		r.defaults = append(r.defaults, one.tenant.Seconds()/one.defaults.Seconds())
		r.whole = append(r.whole, one.whole.Seconds()/one.tenant.Seconds())
	}

	return r
}

// table shows each pair and the medians.
func (r result) table() string {
	var b strings.Builder

	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\t\n", args...) }

	line("round\tbare, same values\tTenant's vCluster\tbare, chart's defaults\twhole CloudSpace\t(a) vCluster/same\t(b) vCluster/defaults\t(c) whole/vCluster")

	for i, one := range r.rounds {
		line("%d\t%.2f s\t%.2f s\t%.2f s\t%.2f s\t%.3f\t%.3f\t%.3f",
			i+1, one.same.Seconds(), one.tenant.Seconds(), one.defaults.Seconds(), one.whole.Seconds(), r.same[i], r.defaults[i], r.whole[i])
	}

	line("median\t\t\t\t\t%.3f\t%.3f\t%.3f", figures.Median(r.same), figures.Median(r.defaults), figures.Median(r.whole))
	line("at most\t\t\t\t\t%.2f\t%.2f\t", boundSame, boundDefaults)

	_ = w.Flush() // A strings.Builder takes everything.

	return b.String()
}

// verdict errs when a median misses its bound.
func (r result) verdict() error {
	var errs []error

	if m := figures.Median(r.same); m > boundSame {
		errs = append(errs, fmt.Errorf("%w: %.3f of bare Helm with the same values, at most %.2f", errSlow, m, boundSame))
	}

	if m := figures.Median(r.defaults); m > boundDefaults {
		errs = append(errs, fmt.Errorf("%w: %.3f of bare Helm with the chart's defaults, at most %.2f", errSlow, m, boundDefaults))
	}

	return errors.Join(errs...)
}
