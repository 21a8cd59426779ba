// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package quantity

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestCheck(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		value  any
		// says are parts of the error; none means that there is none.
		says []string
	}{
		"Plain":         {"what people write", []any{"4", "500m", "8Gi", "1.5", ".5", "+1e3", "1E-9", "12e30", " 7 "}, nil},
		"NoQuantity":    {"other texts", []any{"", "auto", "v1.36.0", "1.36.0-k3s1", "1e100b", "e10", strings.Repeat("x", 1000), "10.0.0.1:5000/x"}, nil},
		"Other":         {"what is no text", []any{nil, true, 1e300, 7, map[string]any{}}, nil},
		"SmallExponent": {"the parser would work for ever", "1e-999999999", []string{`"1e-999999999"`, "exponent"}},
		"LargeExponent": {"a sum would not fit into memory", "1E+100", []string{`"1E+100"`}},
		"NoDigits":      {"the parser takes it for one all the same", "-e1999999999", []string{`"-e1999999999"`, "exponent"}},
		"Zeros":         {"no exponent needs them", "1e0000001", []string{"exponent"}},
		"Digits":        {"a million of them", strings.Repeat("1", 1<<20), []string{"64 characters"}},
		"Fraction":      {"or behind the point", "0." + strings.Repeat("0", 100) + "1Gi", []string{"64 characters"}},
		"Spaces":        {"the parser takes them away", "\n 1e-1000 ", []string{`"1e-1000"`}},
		"Below":         {"where it stands is named", map[string]any{"a": []any{"1", map[string]any{"b": "1e1000"}}}, []string{"a: [1]: b: "}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var into struct{ Any resource.Quantity }

			err := Check(map[string]any{"any": tc.value}, &into)
			if (err == nil) != (tc.says == nil) {
				t.Fatalf("%s: got %v", tc.reason, err)
			}

			for _, words := range tc.says {
				if !strings.Contains(err.Error(), words) || len(err.Error()) > 200 {
					t.Errorf("%s: want %q in %v", tc.reason, words, err)
				}
			}
		})
	}
}

// typed has quantities in all places that a type can have them in.
type typed struct {
	embedded `json:",inline"`

	Untagged resource.Quantity
	Text     string                   `json:"text"`
	Any      any                      `json:"any"`
	Opaque   json.RawMessage          `json:"opaque"`
	Size     *resource.Quantity       `json:"size,omitempty"`
	List     []corev1.Container       `json:"list"`
	Names    map[string]string        `json:"names"`
	Rests    []map[string]*typed      `json:"rests"`
	Amounts  corev1.ResourceList      `json:"amounts"`
	Deep     *map[string][]corev1.Pod `json:"deep"`
	Port     intstr.IntOrString       `json:"port"`
	At       metav1.Time              `json:"at"`
}

type embedded struct {
	Inline resource.Quantity `json:"inline"`
}

// TestCheckWhatIsRead holds that only what would be read as a quantity is checked.
func TestCheckWhatIsRead(t *testing.T) {
	t.Parallel()

	// A commit, which is a number as well.
	const commit = "1234e567"

	cases := map[string]struct {
		reason string
		value  string
		says   string
	}{
		"Text":      {"a text", `{"text": "1234e567", "any": {"size": "1e100"}, "opaque": {"size": "1e100"}, "names": {"cpu": "12e3456"}}`, ""},
		"Others":    {"types that read themselves", `{"port": "1e100", "at": "1e100"}`, ""},
		"Unknown":   {"what the type has not", `{"limits": {"cpu": "1e100"}}`, ""},
		"Env":       {"what a container is told", `{"list": [{"image": "1e100", "env": [{"name": "COMMIT", "value": "1234e567"}]}]}`, ""},
		"OtherKind": {"a value of another kind than the type, which is refused later", `{"list": {"resources": "1e100"}, "names": ["1e100"], "text": [{"size": "1e100"}]}`, ""},
		"Pointer":   {"a pointer", `{"size": "1e100"}`, "size: "},
		"Case":      {"the case is not minded", `{"SIZE": "1e100"}`, "SIZE: "},
		"Untagged":  {"a field without a tag", `{"untagged": "1e100"}`, "untagged: "},
		"Embedded":  {"an embedded field", `{"inline": "1e100"}`, "inline: "},
		"List":      {"a list", `{"list": [{}, {"resources": {"limits": {"example.org/gpu": "1e100"}}}]}`, "list: [1]: resources: limits: example.org/gpu: "},
		"Divisor":   {"wherever it lies", `{"list": [{"env": [{"valueFrom": {"resourceFieldRef": {"divisor": "1e100"}}}]}]}`, "divisor: "},
		"Map":       {"a map", `{"amounts": {"cpu": "1e100"}}`, "amounts: cpu: "},
		"Nested":    {"a type in itself", `{"rests": [{"a": {"rests": [{"b": {"size": "1e100"}}]}}]}`, "rests: [0]: a: rests: [0]: b: size: "},
		"Pod":       {"a whole pod", `{"deep": {"a": [{"spec": {"volumes": [{"emptyDir": {"sizeLimit": "1e100"}}]}}]}}`, "emptyDir: sizeLimit: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var v any
			if err := json.Unmarshal([]byte(tc.value), &v); err != nil {
				t.Fatal(err)
			}

			err := Check(v, new(typed))
			if (err == nil) != (tc.says == "") || (err != nil && !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("%s: want %q, got %v", tc.reason, tc.says, err)
			}
		})
	}

	var text *string
	if err := Check(commit, &text); err != nil {
		t.Errorf("a commit is a text: %v", err)
	}

	if err := Check(commit, nil); err != nil {
		t.Errorf("into nothing: %v", err)
	}
}

// TestCheckValues holds what is checked of a chart's values.
func TestCheckValues(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		value  string
		says   string
	}{
		"Commit":  {"a commit in a label, an annotation, a tag and the environment", `{"labels": {"a": "1234e567"}, "annotations": {"size": "12e3456"}, "image": {"tag": "1e100"}, "env": [{"name": "A", "value": "1e100"}]}`, ""},
		"Within":  {"in a label of what holds quantities", `{"limitRange": {"labels": {"a": "1234e567"}}}`, ""},
		"List":    {"the resources of a container", `{"a": [{"resources": {"claims": [{"x": "1e100"}]}}]}`, "a: [0]: resources: claims: [0]: x: "},
		"Size":    {"a volume", `{"persistence": {"volumeClaim": {"size": "1e100"}}}`, "volumeClaim: size: "},
		"Case":    {"a decoder minds no case", `{"Resources": {"limits": {"cpu": "1e100"}}}`, "Resources: limits: cpu: "},
		"Quota":   {"a quota", `{"policies": {"resourceQuota": {"quota": {"requests.cpu": "1e100"}}}}`, "quota: requests.cpu: "},
		"Default": {"a range", `{"policies": {"limitRange": {"default": {"cpu": "1e100"}}}}`, "limitRange: default: cpu: "},
		"Plain":   {"one that can be read", `{"resources": {"limits": {"cpu": "1e3", "memory": 5, "x": null}}}`, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var v any
			if err := json.Unmarshal([]byte(tc.value), &v); err != nil {
				t.Fatal(err)
			}

			err := CheckValues(v)
			if (err == nil) != (tc.says == "") || (err != nil && !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("%s: want %q, got %v", tc.reason, tc.says, err)
			}
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()

	if q, err := Parse("1500m"); err != nil || q.Cmp(resource.MustParse("1.5")) != 0 {
		t.Errorf("got %s, %v", q.String(), err)
	}

	for _, s := range []string{"1e-1000", "4 cores", "", "1000E", "1000000000000000000000"} {
		if q, err := Parse(s); err == nil {
			t.Errorf("%q is %s", s, q.String())
		}
	}
}

// FuzzParse holds that no text takes long, and that what is taken is what Kubernetes takes it for.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"4", "500m", "8Gi", "1e30", "-1", "2\"; injected: true", "4 cores", "1e-99", "0.000000001", "1e-1000000000", "9223372036854775808Ki"} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, s string) {
		q, err := Parse(s)
		if err != nil {
			return
		}

		if again, err := resource.ParseQuantity(q.String()); err != nil || again.Cmp(q) != 0 {
			t.Errorf("%q is %s, which is %s and %v", s, q.String(), again.String(), err)
		}

		if sum := q.DeepCopy(); true {
			sum.Add(resource.MustParse("1"))

			if sum.Cmp(q) <= 0 {
				t.Errorf("%q and 1 are %s", s, sum.String())
			}
		}
	})
}
