// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMerge(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		base   string
		over   string
		want   string
	}{
		"nothing over":       {"base as it is", `{"a":{"b":1}}`, `{}`, `{"a":{"b":1}}`},
		"nothing below":      {"over as it is", `{}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		"deep":               {"maps merge key by key", `{"a":{"b":1,"c":{"d":2}}}`, `{"a":{"c":{"e":3}}}`, `{"a":{"b":1,"c":{"d":2,"e":3}}}`},
		"scalar wins":        {"the override is what was asked for", `{"a":1}`, `{"a":"x"}`, `{"a":"x"}`},
		"false and zero win": {"empty is not absent", `{"a":true,"b":1,"c":"x"}`, `{"a":false,"b":0,"c":""}`, `{"a":false,"b":0,"c":""}`},
		"list replaces":      {"as Helm does", `{"a":[1,2]}`, `{"a":[3]}`, `{"a":[3]}`},
		"map over scalar":    {"the override's shape wins", `{"a":1}`, `{"a":{"b":2}}`, `{"a":{"b":2}}`},
		"scalar over map":    {"the override's shape wins", `{"a":{"b":2}}`, `{"a":1}`, `{"a":1}`},
		"empty map":          {"adds nothing and takes nothing", `{"a":{"b":2}}`, `{"a":{}}`, `{"a":{"b":2}}`},
		"null deletes":       {"the chart's default applies again", `{"a":{"b":1,"c":2}}`, `{"a":{"b":null}}`, `{"a":{"c":2}}`},
		"null deletes a map": {"with all below it", `{"a":{"b":{"c":1}}}`, `{"a":null}`, `{}`},
		"null is passed on":  {"for Helm to delete the chart's default", `{"a":{}}`, `{"a":{"b":null},"c":{"d":null}}`, `{"a":{"b":null},"c":{"d":null}}`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := Merge(fromJSON(t, tc.base), fromJSON(t, tc.over))
			if diff := cmp.Diff(fromJSON(t, tc.want), got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMergeSharesNothing(t *testing.T) {
	t.Parallel()

	const base, over = `{"a":{"l":[{"x":1}]}}`, `{"b":{"l":[{"x":1}]}}`

	b, o := fromJSON(t, base), fromJSON(t, over)
	got := Merge(b, o)

	for _, key := range []string{"a", "b"} {
		inner, ok := at(got, key).(map[string]any)
		if !ok {
			t.Fatalf("no map under %q: %v", key, got)
		}

		list, ok := inner["l"].([]any)
		if !ok {
			t.Fatalf("no list under %q: %v", key, got)
		}

		list[0].(map[string]any)["x"] = "changed"
		inner["new"] = true
	}

	if diff := cmp.Diff(fromJSON(t, base), b); diff != "" {
		t.Errorf("base changed with the result: -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(fromJSON(t, over), o); diff != "" {
		t.Errorf("over changed with the result: -want, +got:\n%s", diff)
	}
}

func TestMergeTakesNilMaps(t *testing.T) {
	t.Parallel()

	got := Merge(nil, nil)
	if got == nil || len(got) != 0 {
		t.Errorf("want an empty map that can be written to, got %#v", got)
	}
}

func FuzzMerge(f *testing.F) {
	f.Add(`{}`, `{}`)
	f.Add(`{"a":{"b":[1,{"c":null}]}}`, `{"a":{"b":null,"d":{"e":null}}}`)
	f.Add(`{"a":1}`, `{"a":{"b":{}}}`)
	f.Add(`{"a":{"b":{}}}`, `{"a":[]}`)
	f.Fuzz(func(t *testing.T, base, over string) {
		var b, o, b2, o2 map[string]any
		if json.Unmarshal([]byte(base), &b) != nil || json.Unmarshal([]byte(over), &o) != nil {
			return
		}

		b2, o2 = fromJSON(t, base), fromJSON(t, over)

		first, second := Merge(b, o), Merge(b, o)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("equal inputs, unequal results:\n%s", diff)
		}

		if diff := cmp.Diff(b2, b); diff != "" {
			t.Errorf("base was changed:\n%s", diff)
		}

		if diff := cmp.Diff(o2, o); diff != "" {
			t.Errorf("over was changed:\n%s", diff)
		}

		for key, value := range o {
			_, isMap := value.(map[string]any)
			if value != nil && !isMap && !cmp.Equal(first[key], value) {
				t.Errorf("override of %q lost: want %v, got %v", key, value, first[key])
			}
		}
	})
}

func fromJSON(t *testing.T, s string) map[string]any {
	t.Helper()

	var out map[string]any
	if err := json.Unmarshal([]byte(s), &out); err != nil {
		t.Fatal(err)
	}

	return out
}
