// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
)

const (
	// maxRefused is how many refused values one error lists.
	maxRefused = 10
	// maxReason bounds the text for one of them, in bytes.
	maxReason = 240
)

// Validate checks values, laid over the chart's defaults, against the schemas of
// the chart and of its enabled subcharts. The error wraps ErrValuesRefused and
// lists each refused path with the reason on one line, in a fixed order.
func (c *Chart) Validate(values map[string]any) error {
	v, err := copyValues(values)
	if err != nil {
		return err
	}
	hc := c.clone()
	all, err := safely(func() (chartutil.Values, error) {
		if err := chartutil.ProcessDependenciesWithMerge(hc, v); err != nil {
			return nil, err
		}
		return chartutil.CoalesceValues(hc, v)
	})
	if err != nil {
		return fmt.Errorf("%w by chart %q %s: %w", ErrValuesRefused, c.Name(), c.Version(), oneLine(err))
	}

	found := refused{}
	if err := c.check(hc, all, nil, found); err != nil {
		return err
	}
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf("%w by chart %q %s: %s", ErrValuesRefused, c.Name(), c.Version(), found)
}

func (c *Chart) check(hc *chart.Chart, values map[string]any, at []string, found refused) error {
	if len(hc.Schema) > 0 {
		s, err := c.schema(hc.Schema)
		if err != nil {
			return fmt.Errorf("%w: the values schema of chart %q %s cannot be used: %w", ErrChartInvalid, hc.Name(), c.Version(), oneLine(err))
		}
		raw, err := json.Marshal(values)
		if err != nil {
			return fmt.Errorf("%w: they are not JSON: %w", ErrValuesRefused, err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			return fmt.Errorf("%w: they are not JSON: %w", ErrValuesRefused, err)
		}
		_, err = safely(func() (struct{}, error) { return struct{}{}, s.Validate(doc) })
		if err := found.add(at, err); err != nil {
			return fmt.Errorf("%w: the values schema of chart %q %s cannot be used: %w", ErrChartInvalid, hc.Name(), c.Version(), oneLine(err))
		}
	}

	for _, sub := range hc.Dependencies() {
		v, ok := values[sub.Name()]
		if !ok || v == nil {
			continue
		}
		at := append(slices.Clone(at), sub.Name())
		table, ok := asTable(v)
		if !ok {
			found.say(at, "want object, as it holds the values of a subchart")
			continue
		}
		if err := c.check(sub, table, at, found); err != nil {
			return err
		}
	}
	return nil
}

func asTable(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case chartutil.Values:
		return v, true
	default:
		return nil, false
	}
}

// schema compiles a schema once. It may refer to itself only: a chart does not
// get to make the provider fetch URLs or read files.
func (c *Chart) schema(raw []byte) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.schemas[string(raw)]; ok {
		return s, nil
	}

	s, err := safely(func() (*jsonschema.Schema, error) {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			return nil, err
		}
		const url = "chart:///values.schema.json"
		compiler := jsonschema.NewCompiler()
		compiler.UseLoader(noLoader{})
		if err := compiler.AddResource(url, doc); err != nil {
			return nil, err
		}
		return compiler.Compile(url)
	})
	if err != nil {
		return nil, err
	}
	c.schemas[string(raw)] = s
	return s, nil
}

type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %q outside the chart", url)
}

// refused are the reasons found for each path.
type refused map[string]map[string]bool

var english = message.NewPrinter(language.English)

// add takes apart what a schema says. An error that is not about values is
// returned.
func (r refused) add(at []string, err error) error {
	if err == nil {
		return nil
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return err
	}
	r.walk(at, ve)
	return nil
}

func (r refused) walk(at []string, e *jsonschema.ValidationError) {
	if len(e.Causes) > 0 {
		for _, c := range e.Causes {
			r.walk(at, c)
		}
		return
	}
	path := append(slices.Clone(at), e.InstanceLocation...)
	switch k := e.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		for _, p := range k.Properties {
			r.say(append(slices.Clone(path), p), "unknown to this version of the chart")
		}
	case *kind.Required:
		for _, p := range k.Missing {
			r.say(append(slices.Clone(path), p), "required")
		}
	default:
		r.say(path, k.LocalizedString(english))
	}
}

func (r refused) say(path []string, reason string) {
	p := strings.Join(path, ".")
	if p == "" {
		p = "(top)"
	}
	reason = strings.Join(strings.Fields(reason), " ")
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + "..."
	}
	if r[p] == nil {
		r[p] = map[string]bool{}
	}
	r[p][reason] = true
}

// String lists the paths in order. Several reasons for one path are the
// alternatives that a schema offers.
func (r refused) String() string {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(r)) {
		if len(out) == maxRefused {
			out = append(out, fmt.Sprintf("and %d more", len(r)-maxRefused))
			break
		}
		out = append(out, p+": "+strings.Join(slices.Sorted(maps.Keys(r[p])), ", or "))
	}
	return strings.Join(out, "; ")
}
