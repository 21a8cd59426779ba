// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestValuesEqual(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		a, b   map[string]any
		want   bool
	}{
		"IntAndFloat":    {reason: "numbers compare by value", a: map[string]any{"n": 1}, b: map[string]any{"n": 1.0}, want: true},
		"IntAndNumber":   {reason: "numbers compare by value", a: map[string]any{"n": int64(7)}, b: map[string]any{"n": json.Number("7")}, want: true},
		"IntAndString":   {reason: "a string is no number", a: map[string]any{"n": 1}, b: map[string]any{"n": "1"}},
		"NilAndEmpty":    {reason: "no values are no values", a: nil, b: map[string]any{}, want: true},
		"EmptyTable":     {reason: "an empty table is itself", a: map[string]any{"a": map[string]any{}}, b: map[string]any{"a": map[string]any{}}, want: true},
		"TableAndAbsent": {reason: "an empty table is not absent", a: map[string]any{"a": map[string]any{}}, b: nil},
		"NullAndAbsent":  {reason: "null deletes a default, absent does not", a: map[string]any{"a": nil}, b: nil},
		"NilMapAndNull":  {reason: "a nil map is stored as null, so it must equal what comes back", a: map[string]any{"a": map[string]any(nil)}, b: map[string]any{"a": nil}, want: true},
		"TypedLists":     {reason: "list types do not count", a: map[string]any{"l": []string{"x"}}, b: map[string]any{"l": []any{"x"}}, want: true},
		"ListOrder":      {reason: "lists have an order", a: map[string]any{"l": []any{1, 2}}, b: map[string]any{"l": []any{2, 1}}},
		"NotJSON":        {reason: "what cannot be stored is equal to nothing", a: map[string]any{"n": math.NaN()}, b: map[string]any{"n": math.NaN()}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := ValuesEqual(tc.a, tc.b); got != tc.want {
				t.Errorf("%s: ValuesEqual(%v, %v) = %t", tc.reason, tc.a, tc.b, got)
			}
			if got := ValuesEqual(tc.b, tc.a); got != tc.want {
				t.Errorf("%s: not symmetric", tc.reason)
			}
		})
	}
}

func TestH7ValuesEqualInAnyOrder(t *testing.T) {
	t.Parallel()
	want := map[string]any{"replicas": 1, "a": map[string]any{}}
	for i := range 20 {
		want[fmt.Sprintf("k%d", i)] = map[string]any{"v": i}
	}
	for range 1000 {
		got := map[string]any{}
		keys := make([]string, 0, len(want))
		for k := range want {
			keys = append(keys, k)
		}
		rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		for _, k := range keys {
			got[k] = want[k]
		}
		got["replicas"] = 1.0
		if !ValuesEqual(want, got) {
			t.Fatalf("the order %v makes a difference", keys)
		}
	}
}

func TestCopyValuesRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		in     map[string]any
		says   []string
	}{
		"H5: 1.5 MiB": {
			reason: "1.5 MiB would not fit into a Secret",
			in:     map[string]any{"s": strings.Repeat("x", 3<<19)},
			says:   []string{"1537 KiB", "256 KiB"},
		},
		"NotJSON": {
			reason: "a release is stored as JSON",
			in:     map[string]any{"n": math.Inf(1)},
			says:   []string{"not JSON"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := copyValues(tc.in)
			if !errors.Is(err, ErrValuesRefused) {
				t.Fatalf("%s: got %v", tc.reason, err)
			}
			for _, s := range tc.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%s: %q does not say %q", tc.reason, err, s)
				}
			}
		})
	}
}
