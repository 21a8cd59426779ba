// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package quantity keeps quantities out that cannot be computed with. Kubernetes' own parser takes any exponent
// and any number of digits, and then works for minutes, or for ever, on a text of a few characters.
// The schemas of the provider's kinds have the same rule; this is for values that have no schema.
package quantity

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// maxLength is how many characters a quantity may have.
const maxLength = 64

// number is what the parser takes for one, also without a digit before the exponent, which is the one group.
// All else the parser refuses at once.
var number = regexp.MustCompile(`^[+-]?[0-9.]*(?:[A-Za-z]{0,2}|[eE][+-]?([0-9]+))$`)

// maxExponent is how many digits an exponent may have.
const maxExponent = 2

// quantityFields are those below which quantities stand, as Kubernetes and charts name them.
var quantityFields = []string{
	"capacity", "cpu", "divisor", "hard", "limitRange", "limits", "memory", "overhead", "quota", "requests", "resources", "size", "sizeLimit", "storage",
}

// textFields are those below which no quantity stands, wherever they are.
var textFields = []string{"annotations", "labels"}

var (
	quantityType = reflect.TypeFor[resource.Quantity]()
	unmarshaler  = reflect.TypeFor[json.Unmarshaler]()
)

// Parse reads a quantity such as 500m or 8Gi. It errs also on one that it would take
// too long to read.
func Parse(s string) (resource.Quantity, error) {
	if err := check(s); err != nil {
		return resource.Quantity{}, err
	}

	return resource.ParseQuantity(s)
}

// Check errs on quantities in v, a document as json.Unmarshal makes it of any JSON, that
// Parse would err on by their size. What is a quantity follows from the type that into
// points to, and that v is to be read into. What is no number is passed over. The error
// names where it stands.
func Check(v, into any) error { return checkType(v, reflect.TypeOf(into)) }

func checkType(v any, t reflect.Type) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}

	if t == quantityType {
		return checkAll(v)
	}

	if t == nil || reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}

	switch v := v.(type) {
	case []any:
		if t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
			return below(v, func(v any) error { return checkType(v, t.Elem()) })
		}
	case map[string]any:
		return inFields(v, func(key string, v any) error {
			switch t.Kind() {
			case reflect.Map:
				return checkType(v, t.Elem())
			case reflect.Struct:
				return checkField(key, v, t)
			default:
				return nil
			}
		})
	}

	return nil
}

// checkField checks the value of the fields of t that JSON may call so, in whatever case.
func checkField(key string, v any, t reflect.Type) error {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")

		var err error

		switch {
		case name == "" && f.Anonymous:
			err = checkEmbedded(key, v, f.Type)
		case name == "" && strings.EqualFold(key, f.Name), name != "" && strings.EqualFold(key, name):
			err = checkType(v, f.Type)
		}

		if err != nil {
			return err
		}
	}

	return nil
}

// checkEmbedded checks a field of a struct that is embedded in another.
func checkEmbedded(key string, v any, t reflect.Type) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}

	if t.Kind() != reflect.Struct {
		return nil
	}

	return checkField(key, v, t)
}

// CheckValues is Check for the values of a chart, which have no type: it errs on what
// stands below a field that is named as those are that hold quantities.
func CheckValues(v any) error {
	switch v := v.(type) {
	case []any:
		return below(v, CheckValues)
	case map[string]any:
		return inFields(v, func(key string, v any) error {
			switch {
			case isOneOf(textFields, key):
				return nil
			case isOneOf(quantityFields, key):
				return checkAll(v)
			default:
				return CheckValues(v)
			}
		})
	default:
		return nil
	}
}

func isOneOf(names []string, key string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, key) })
}

// checkAll checks all texts in v but those below textFields.
func checkAll(v any) error {
	switch v := v.(type) {
	case string:
		return check(v)
	case []any:
		return below(v, checkAll)
	case map[string]any:
		return inFields(v, func(key string, v any) error {
			if isOneOf(textFields, key) {
				return nil
			}

			return checkAll(v)
		})
	default:
		return nil
	}
}

// check errs on a quantity that takes too long to read, or that Kubernetes would write as another.
func check(s string) error {
	text := strings.TrimSpace(s)

	m := number.FindStringSubmatch(text)
	if m == nil {
		return nil
	}

	if len(text) > maxLength || len(m[1]) > maxExponent {
		return fmt.Errorf("%.20q has more digits than a quantity may have: write it with at most %d characters, and %d in the exponent",
			text, maxLength, maxExponent)
	}

	// There is no suffix above E, and from there on the parser's String leaves thousands out.
	if q, err := resource.ParseQuantity(text); err == nil {
		if again, err := resource.ParseQuantity(q.String()); err != nil || again.Cmp(q) != 0 {
			return fmt.Errorf("%q is more than a quantity may be: write at most 999E", text)
		}
	}

	return nil
}

// below is the first error of an element, which names it.
func below(all []any, check func(any) error) error {
	for i, v := range all {
		if err := check(v); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
	}

	return nil
}

// inFields is the first error of a field, which names it.
func inFields(all map[string]any, check func(string, any) error) error {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if err := check(key, all[key]); err != nil {
			return fmt.Errorf("%.100s: %w", key, err)
		}
	}

	return nil
}
