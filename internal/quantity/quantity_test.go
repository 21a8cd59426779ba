// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package quantity

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
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

			err := Check(tc.value)
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

func TestParse(t *testing.T) {
	t.Parallel()

	if q, err := Parse("1500m"); err != nil || q.Cmp(resource.MustParse("1.5")) != 0 {
		t.Errorf("got %s, %v", q.String(), err)
	}

	for _, s := range []string{"1e-1000", "4 cores", ""} {
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
