// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"fmt"
	"io"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// The provider's own counters.
const (
	HostWrites     = "kubeopera_host_writes_total"
	HelmActions    = "kubeopera_helm_actions_total"
	ChartDownloads = "kubeopera_chart_downloads_total"
)

// Metrics are metric families by their name.
type Metrics map[string]*dto.MetricFamily

// ParseMetrics reads metrics in Prometheus' text format.
func ParseMetrics(r io.Reader) (Metrics, error) {
	p := expfmt.NewTextParser(model.UTF8Validation)

	out, err := p.TextToMetricFamilies(r)
	if err != nil {
		return nil, fmt.Errorf("cannot read metrics: %w", err)
	}

	return out, nil
}

// Sum adds up the counters of a family that carry all of these labels, given as
// name, value, name, value. It errs when there is no such family: a counter that
// is gone must not pass for one that stands still.
func (m Metrics) Sum(family string, labels ...string) (float64, error) {
	f, ok := m[family]
	if !ok || f.GetType() != dto.MetricType_COUNTER {
		return 0, fmt.Errorf("the provider has no counter %q", family)
	}

	var sum float64

	for _, s := range f.GetMetric() {
		if carries(s, labels) {
			sum += s.GetCounter().GetValue()
		}
	}

	return sum, nil
}

// Gauge is the value of a gauge, or of a counter, without labels. It errs when there
// is none.
func (m Metrics) Gauge(family string) (float64, error) {
	f, ok := m[family]
	if !ok || len(f.GetMetric()) != 1 {
		return 0, fmt.Errorf("the provider has no gauge %q", family)
	}

	switch one := f.GetMetric()[0]; {
	case one.GetGauge() != nil:
		return one.GetGauge().GetValue(), nil
	case one.GetCounter() != nil:
		return one.GetCounter().GetValue(), nil
	default:
		return 0, fmt.Errorf("the provider's %q is a %s, and no gauge", family, f.GetType())
	}
}

// Seconds are the sum of what a histogram has seen, and how often.
type Seconds struct {
	Sum   float64
	Count uint64
}

// SecondsBy are those of a histogram by the value of one label. It is empty when
// nothing was seen yet.
func (m Metrics) SecondsBy(family, label string) map[string]Seconds {
	out := map[string]Seconds{}

	for _, s := range m[family].GetMetric() {
		for _, l := range s.GetLabel() {
			if l.GetName() == label {
				seen := out[l.GetValue()]
				seen.Sum += s.GetHistogram().GetSampleSum()
				seen.Count += s.GetHistogram().GetSampleCount()
				out[l.GetValue()] = seen
			}
		}
	}

	return out
}

func carries(m *dto.Metric, labels []string) bool {
	have := map[string]string{}
	for _, l := range m.GetLabel() {
		have[l.GetName()] = l.GetValue()
	}

	for i := 0; i+1 < len(labels); i += 2 {
		if have[labels[i]] != labels[i+1] {
			return false
		}
	}

	return true
}
