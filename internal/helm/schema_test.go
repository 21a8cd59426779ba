// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const testSchema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$defs": {"size": {"oneOf": [{"type": "string"}, {"type": "integer"}]}},
  "type": "object",
  "additionalProperties": false,
  "required": ["mode"],
  "properties": {
    "mode": {"enum": ["a", "b"]},
    "size": {"$ref": "#/$defs/size"},
    "sub": {"type": "object"},
    "global": {"type": "object"},
    "deep": {"type": "object", "additionalProperties": false, "properties": {"n": {"type": "integer", "minimum": 1}}}
  }
}`

func TestValidate(t *testing.T) {
	t.Parallel()
	sub := helmChart("sub", "0.1.0", withSchema(`{"type": "object", "properties": {"port": {"type": "integer"}}}`))
	c := newChart(t, "1.0.0", withSchema(testSchema), withDefaults(map[string]any{"mode": "a"}), withSubchart("sub.enabled", sub))

	const by = `values refused by chart "app" 1.0.0: `
	cases := map[string]struct {
		reason string
		values map[string]any
		want   string
	}{
		"Defaults": {reason: "what the chart itself brings counts", values: nil},
		"Good":     {reason: "numbers may be of any Go type", values: map[string]any{"deep": map[string]any{"n": 3.0}, "size": int64(4)}},
		"Unknown": {
			reason: "an unknown field is named by its own path",
			values: map[string]any{"deep": map[string]any{"zz": 1, "k3s": map[string]any{}}},
			want:   by + "deep.k3s: unknown to this version of the chart; deep.zz: unknown to this version of the chart",
		},
		"Several": {
			reason: "all refused values are listed, in order",
			values: map[string]any{"mode": "c", "deep": map[string]any{"n": 0}},
			want:   by + "deep.n: minimum: got 0, want 1; mode: value must be one of 'a', 'b'",
		},
		"Alternatives": {
			reason: "alternatives are joined under one path",
			values: map[string]any{"size": true},
			want:   by + "size: got boolean, want integer, or got boolean, want string",
		},
		"Deleted": {
			reason: "null deletes the default, so a required field is missing",
			values: map[string]any{"mode": nil},
			want:   by + "mode: required",
		},
		"Subchart": {
			reason: "a subchart is checked against its own schema",
			values: map[string]any{"sub": map[string]any{"port": "x"}},
			want:   by + "sub.port: got string, want integer",
		},
		"DisabledSubchart": {
			reason: "a disabled subchart is not checked",
			values: map[string]any{"sub": map[string]any{"enabled": false, "port": "x"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := fmt.Sprint(tc.values)
			for range 5 { // in a fixed order
				err := c.Validate(tc.values)
				got := ""
				if err != nil {
					got = err.Error()
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Fatalf("%s: -want, +got:\n%s", tc.reason, diff)
				}
				if tc.want != "" && !errors.Is(err, ErrValuesRefused) {
					t.Errorf("%s: %v is not ErrValuesRefused", tc.reason, err)
				}
			}
			if fmt.Sprint(tc.values) != before {
				t.Errorf("%s: the values were changed", tc.reason)
			}
		})
	}
}

func TestValidateBounds(t *testing.T) {
	t.Parallel()
	c := newChart(t, "1.0.0", withSchema(testSchema), withDefaults(map[string]any{"mode": "a"}))

	many := map[string]any{}
	for i := range 50 {
		many[fmt.Sprintf("x%02d", i)] = i
	}
	err := c.Validate(many)
	if err == nil || !strings.Contains(err.Error(), "and 40 more") {
		t.Errorf("50 refused values must be cut to 10, got %v", err)
	}
	if err := c.Validate(map[string]any{"mode": strings.Repeat("x", 3<<19)}); !errors.Is(err, ErrValuesRefused) || !strings.Contains(err.Error(), "256 KiB") {
		t.Errorf("1.5 MiB must be refused with the limit, got %v", err)
	}
}

func TestValidateForeignSchema(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, schema string
	}{
		"HTTP":     {reason: "a chart must not make the provider fetch a URL", schema: `{"$ref": "http://127.0.0.1:1/s.json"}`},
		"File":     {reason: "a chart must not make the provider read a file", schema: `{"$ref": "file:///etc/hostname"}`},
		"NoSchema": {reason: "a schema must be one", schema: `{"type": 5}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := newChart(t, "1.0.0", withSchema(tc.schema)).Validate(nil)
			if !errors.Is(err, ErrChartInvalid) {
				t.Errorf("%s: got %v", tc.reason, err)
			}
		})
	}
}
