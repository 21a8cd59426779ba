// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package rubbish fills the fields of a spec, each in turn, with what no schema lets
// through and what decodes all the same. It is for tests.
package rubbish

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// many is more than any list may have.
const many = 1000

var (
	texts      = []string{"", " \u0000\n", "../..", "{{ .Values }}\": x", "\u00ff\u202e", strings.Repeat("x", 10*many)}
	quantities = []string{"0", "-1", "-9e18", "1e30", "1n", "999999999Ei"}
	documents  = []string{"null", "[]", `"x"`, "-1e99", `{"": {"": [[]]}}`, strings.Repeat("[", many) + strings.Repeat("]", many)}
)

// Spec is one of which one field is rubbish.
type Spec struct {
	// Field that is, such as spec.advisor.env[0].name.
	Field string
	// JSON of the whole spec. It decodes.
	JSON []byte
}

// Of gives for each field below a spec, which is a pointer to one that is in order, some
// specs that differ in it.
func Of(t *testing.T, spec any) []Spec {
	t.Helper()

	given, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}

	var out []Spec

	seen := map[string]bool{string(given): true}
	v := reflect.ValueOf(spec).Elem()
	fill(v, "spec", func(field string) {
		raw, err := json.Marshal(spec)
		if err == nil {
			err = json.Unmarshal(raw, reflect.New(v.Type()).Interface())
		}

		if err != nil {
			t.Fatalf("%s does not decode: %v", field, err)
		}

		if !seen[string(raw)] {
			seen[string(raw)] = true
			out = append(out, Spec{field, raw})
		}
	})

	if len(out) == 0 {
		t.Fatalf("%T has no field", spec)
	}

	return out
}

// fill v and all below it with rubbish, one after the other, and call keep for each.
// In the end it is as it was.
func fill(v reflect.Value, field string, keep func(field string)) {
	before := reflect.New(v.Type()).Elem()
	before.Set(v)

	defer v.Set(before)

	put := func(x any) {
		v.Set(reflect.ValueOf(x).Convert(v.Type()))
		keep(field)
	}

	if all := whole(v.Interface()); all != nil {
		for _, x := range all {
			put(x)
		}

		return
	}

	switch v.Kind() {
	case reflect.String:
		for _, s := range texts {
			put(s)
		}
	case reflect.Bool:
		put(!v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		for _, n := range []int64{-1, 0, math.MinInt32, math.MaxInt32} {
			put(n)
		}
	case reflect.Struct:
		fillStruct(v, field, keep)
	case reflect.Pointer:
		fillPointer(v, field, keep)
	case reflect.Slice:
		fillSlice(v, field, keep)
	case reflect.Map:
		fillMap(v, field, keep)
	default:
		panic(fmt.Sprintf("%s: there is no rubbish for a %s", field, v.Type()))
	}
}

// whole is rubbish for what is one value although it has parts; nil if v is not.
func whole(v any) []any {
	var out []any

	switch v.(type) {
	case resource.Quantity:
		for _, q := range quantities {
			out = append(out, resource.MustParse(q))
		}
	case apiextensionsv1.JSON:
		for _, d := range documents {
			out = append(out, apiextensionsv1.JSON{Raw: []byte(d)})
		}
	case []byte:
		for _, s := range texts {
			out = append(out, []byte(s))
		}
	case intstr.IntOrString:
		out = append(out, intstr.FromInt32(math.MinInt32), intstr.FromString("{{ .Values }}"))
	}

	return out
}

func fillStruct(v reflect.Value, field string, keep func(string)) {
	for i := range v.NumField() {
		f := field
		if name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ","); name != "" {
			f += "." + name
		}

		fill(v.Field(i), f, keep)
	}
}

func fillPointer(v reflect.Value, field string, keep func(string)) {
	to := reflect.New(v.Type().Elem())
	if !v.IsNil() {
		to.Elem().Set(v.Elem())
	}

	v.SetZero()
	keep(field)
	v.Set(to)
	fill(to.Elem(), field, keep)
}

func fillSlice(v reflect.Value, field string, keep func(string)) {
	for _, n := range []int{0, many} {
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		keep(field)
	}

	v.SetZero()
	keep(field)

	v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	fill(v.Index(0), field+"[0]", keep)
}

func fillMap(v reflect.Value, field string, keep func(string)) {
	v.SetZero()
	keep(field)

	with := func(key string, value reflect.Value) {
		m := reflect.MakeMap(v.Type())
		m.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), value)
		v.Set(m)
	}
	value := reflect.New(v.Type().Elem()).Elem()

	for _, key := range texts {
		with(key, value)
		keep(field)
	}

	for _, key := range []string{"cpu", "limits.cpu"} {
		fill(value, field+"."+key, func(f string) {
			with(key, value)
			keep(f)
		})
	}
}
