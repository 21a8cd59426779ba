// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/yaml"
)

// object returns the YAML as an object.
func object(t *testing.T, s string) *structpb.Struct {
	t.Helper()
	m := map[string]any{}
	if err := yaml.Unmarshal([]byte(s), &m); err != nil {
		t.Fatal(err)
	}
	out, err := structpb.NewStruct(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const composite = `
apiVersion: example.org/v1
kind: Space
metadata: {name: alice, namespace: team}
spec: {size: large, count: 3, owner: {id: u-1}}
`

// ask calls the function with the templates. The resources "there" and "unready" exist, and
// one of another function is desired.
func ask(t *testing.T, templates string) *fnv1.RunFunctionResponse {
	t.Helper()
	req := &fnv1.RunFunctionRequest{
		Input: object(t, "apiVersion: pt.fn.crossplane.io/v1beta1\nkind: Resources\n"+templates),
		Observed: &fnv1.State{
			Composite: &fnv1.Resource{Resource: object(t, composite)},
			Resources: map[string]*fnv1.Resource{
				"unready": {Resource: object(t, "apiVersion: example.org/v1\nkind: Thing\nmetadata: {name: alice-x2, namespace: team}")},
				"there": {Resource: object(t, `
apiVersion: example.org/v1
kind: Thing
metadata: {name: alice-x1, namespace: team}
status: {address: 10.0.0.1, conditions: [{type: Ready, status: "True"}]}
`)},
			},
		},
		Desired: &fnv1.State{Resources: map[string]*fnv1.Resource{"others": {Resource: object(t, "kind: Other")}}},
	}
	rsp, err := (&fake{log: logging.NewNopLogger()}).RunFunction(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return rsp
}

func TestRender(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason    string
		templates string
		// resources are those that are wanted but for "others", by name.
		resources map[string]string
		// composite is what is wanted of it besides its kind.
		composite string
		ready     fnv1.Ready
		warnings  []string
	}{
		"Base": {
			reason:    "a base is a resource",
			templates: `resources: [{name: a, base: {apiVersion: v1, kind: Thing, spec: {n: 1}}}]`,
			resources: map[string]string{"a": `{apiVersion: v1, kind: Thing, spec: {n: 1}}`},
		},
		"FromComposite": {
			reason: "it is the default, and the path to which it goes is that from which it comes",
			templates: `
resources:
- name: a
  base: {kind: Thing}
  patches:
  - {fromFieldPath: spec.count}
  - {type: FromCompositeFieldPath, fromFieldPath: spec.owner, toFieldPath: "spec.owners[0]"}
`,
			resources: map[string]string{"a": `{kind: Thing, spec: {count: 3, owners: [{id: u-1}]}}`},
		},
		"Combine": {
			reason: "values of any kind become one string",
			templates: `
resources:
- name: a
  base: {kind: Thing}
  patches:
  - type: CombineFromComposite
    combine: {strategy: string, variables: [{fromFieldPath: spec.owner.id}, {fromFieldPath: spec.count}], string: {fmt: "%s-%v"}}
    toFieldPath: metadata.name
`,
			resources: map[string]string{"a": `{kind: Thing, metadata: {name: u-1-3}}`},
		},
		"Transforms": {
			reason: "each takes what the one before it made",
			templates: `
resources:
- name: a
  base: {kind: Thing}
  patches:
  - fromFieldPath: spec.size
    toFieldPath: spec.cpu
    transforms: [{type: map, map: {small: 1, large: 4}}]
  - fromFieldPath: spec.size
    toFieldPath: spec.label
    transforms: [{type: map, map: {large: L}}, {type: string, string: {type: Format, fmt: "size-%s"}}]
`,
			resources: map[string]string{"a": `{kind: Thing, spec: {cpu: 4, label: size-L}}`},
		},
		"Optional": {
			reason: "a value that is not there is left out",
			templates: `
resources:
- name: a
  base: {kind: Thing, spec: {kept: true}}
  patches:
  - {fromFieldPath: spec.nosuch, toFieldPath: spec.kept}
  - {fromFieldPath: spec.nosuch, toFieldPath: spec.kept, policy: {fromFieldPath: Optional}}
  - type: CombineFromComposite
    combine: {strategy: string, variables: [{fromFieldPath: spec.size}, {fromFieldPath: spec.nosuch}], string: {fmt: "%s-%s"}}
    toFieldPath: spec.kept
`,
			resources: map[string]string{"a": `{kind: Thing, spec: {kept: true}}`},
		},
		"RequiredForNew": {
			reason: "a new resource waits for a value that is required, and the others do not",
			templates: `
resources:
- name: a
  base: {kind: Thing}
  patches: [{fromFieldPath: status.nosuch, toFieldPath: spec.x, policy: {fromFieldPath: Required}}]
- {name: b, base: {kind: Thing}}
`,
			resources: map[string]string{"b": `{kind: Thing}`},
			ready:     fnv1.Ready_READY_FALSE,
			warnings:  []string{`resource "a": not made, because the field of patches[0] is required: status: no such field`},
		},
		"RequiredForExisting": {
			reason: "a resource that exists is not taken away, and its other patches are done",
			templates: `
resources:
- name: there
  base: {kind: Thing}
  patches:
  - {fromFieldPath: status.nosuch, toFieldPath: spec.x, policy: {fromFieldPath: Required}}
  - {fromFieldPath: spec.size}
`,
			resources: map[string]string{"there": `{kind: Thing, metadata: {name: alice-x1, namespace: team}, spec: {size: large}}`},
			warnings:  []string{`resource "there": left out patches[0]`},
		},
		"ToComposite": {
			reason: "the composite gets what is observed, once there is something to observe",
			templates: `
resources:
- name: there
  base: {kind: Thing}
  patches: [{type: ToCompositeFieldPath, fromFieldPath: status.address, toFieldPath: status.endpoint}]
- name: new
  base: {kind: Thing}
  patches: [{type: ToCompositeFieldPath, fromFieldPath: status.address, toFieldPath: status.other, policy: {fromFieldPath: Required}}]
`,
			resources: map[string]string{"there": `{kind: Thing, metadata: {name: alice-x1, namespace: team}}`, "new": `{kind: Thing}`},
			composite: `{status: {endpoint: 10.0.0.1}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rsp := ask(t, tc.templates)
			want := map[string]any{"others": object(t, "kind: Other").AsMap()}
			for n, s := range tc.resources {
				want[n] = object(t, s).AsMap()
			}
			got := map[string]any{}
			for n, r := range rsp.GetDesired().GetResources() {
				got[n] = r.GetResource().AsMap()
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: resources: -want +got:\n%s", tc.reason, diff)
			}
			xr := object(t, tc.composite).AsMap()
			xr["apiVersion"], xr["kind"] = "example.org/v1", "Space"
			if diff := cmp.Diff(xr, rsp.GetDesired().GetComposite().GetResource().AsMap()); diff != "" {
				t.Errorf("%s: composite: -want +got:\n%s", tc.reason, diff)
			}
			if got := rsp.GetDesired().GetComposite().GetReady(); got != tc.ready {
				t.Errorf("%s: the composite is %v, want %v", tc.reason, got, tc.ready)
			}
			results(t, rsp, fnv1.Severity_SEVERITY_WARNING, tc.warnings)
		})
	}
}

// results checks that there are as many results as wanted, of the severity, and
// what they say.
func results(t *testing.T, rsp *fnv1.RunFunctionResponse, s fnv1.Severity, want []string) {
	t.Helper()
	if len(rsp.GetResults()) != len(want) {
		t.Fatalf("results are %v, want %q", rsp.GetResults(), want)
	}
	for i, r := range rsp.GetResults() {
		if r.GetSeverity() != s || !strings.Contains(r.GetMessage(), want[i]) {
			t.Errorf("result %d is %v %q, want %v and %q", i, r.GetSeverity(), r.GetMessage(), s, want[i])
		}
	}
}

func TestReadyUnchecked(t *testing.T) {
	t.Parallel()
	const unready = `{name: unready, base: {kind: Thing}}`
	for checks, want := range map[string]fnv1.Ready{"": fnv1.Ready_READY_UNSPECIFIED, ", readinessChecks: [{type: None}]": fnv1.Ready_READY_TRUE} {
		rsp := ask(t, "resources: ["+strings.TrimSuffix(unready, "}")+checks+"}]")
		if got := rsp.GetDesired().GetResources()["unready"].GetReady(); got != want {
			t.Errorf("with %q it is %v, want %v", checks, got, want)
		}
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	rsp := ask(t, `resources: [{name: there, base: {kind: Thing}}, {name: new, base: {kind: Thing}}]`)
	for name, want := range map[string]fnv1.Ready{"there": fnv1.Ready_READY_TRUE, "new": fnv1.Ready_READY_UNSPECIFIED} {
		if got := rsp.GetDesired().GetResources()[name].GetReady(); got != want {
			t.Errorf("%q is %v, want %v", name, got, want)
		}
	}
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	patch := func(s string) string { return "resources: [{name: a, base: {kind: Thing}, patches: [" + s + "]}]" }
	cases := map[string]struct {
		templates string
		want      string
	}{
		"PatchSets":        {templates: "patchSets: []\nresources: [{name: a, base: {kind: Thing}}]", want: `"patchSets"`},
		"Environment":      {templates: "environment: {}\nresources: [{name: a, base: {kind: Thing}}]", want: `"environment"`},
		"Details":          {templates: `resources: [{name: a, base: {kind: Thing}, connectionDetails: []}]`, want: `"resources[0].connectionDetails"`},
		"ReadinessChecks":  {templates: `resources: [{name: a, base: {kind: Thing}, readinessChecks: [{type: NonEmpty}]}]`, want: `resources[0].readinessChecks[0].type`},
		"Nothing":          {templates: `resources: []`, want: "resources: must hold"},
		"NoName":           {templates: `resources: [{base: {kind: Thing}}]`, want: "resources[0].name"},
		"TwoOfAName":       {templates: `resources: [{name: a, base: {kind: Thing}}, {name: a, base: {kind: Thing}}]`, want: "resources[1].name"},
		"NoBase":           {templates: `resources: [{name: a}]`, want: "resources[0].base"},
		"PatchType":        {templates: patch(`{type: PatchSet}`), want: `patches[0].type: this fake knows FromCompositeFieldPath, ToCompositeFieldPath and CombineFromComposite, not "PatchSet"`},
		"PatchSetName":     {templates: patch(`{type: PatchSet, patchSetName: x}`), want: `"resources[0].patches[0].patchSetName"`},
		"NoFrom":           {templates: patch(`{toFieldPath: spec.x}`), want: "patches[0].fromFieldPath"},
		"Wildcard":         {templates: patch(`{fromFieldPath: spec.size, toFieldPath: "spec.all[*].x"}`), want: "patches[0].toFieldPath"},
		"Policy":           {templates: patch(`{fromFieldPath: spec.size, policy: {fromFieldPath: Maybe}}`), want: "patches[0].policy.fromFieldPath"},
		"ToPolicy":         {templates: patch(`{fromFieldPath: spec.size, policy: {toFieldPath: Replace}}`), want: `"resources[0].patches[0].policy.toFieldPath"`},
		"NoCombine":        {templates: patch(`{type: CombineFromComposite, toFieldPath: a}`), want: "patches[0].combine: must"},
		"NoVariables":      {templates: patch(`{type: CombineFromComposite, toFieldPath: a, combine: {strategy: string, variables: [], string: {fmt: x}}}`), want: "combine.variables"},
		"Strategy":         {templates: patch(`{type: CombineFromComposite, toFieldPath: a, combine: {strategy: sum, variables: [{fromFieldPath: a}], string: {fmt: x}}}`), want: "combine.strategy"},
		"CombineFormat":    {templates: patch(`{type: CombineFromComposite, toFieldPath: a, combine: {strategy: string, variables: [{fromFieldPath: a}], string: {}}}`), want: "combine.string.fmt"},
		"CombineType":      {templates: patch(`{type: CombineFromComposite, toFieldPath: a, combine: {strategy: string, variables: [{fromFieldPath: a}], string: {type: Format, fmt: x}}}`), want: "combine.string.type"},
		"CombineTo":        {templates: patch(`{type: CombineFromComposite, combine: {strategy: string, variables: [{fromFieldPath: a}], string: {fmt: x}}}`), want: "patches[0].toFieldPath"},
		"TransformType":    {templates: patch(`{fromFieldPath: spec.size, transforms: [{type: convert}]}`), want: `transforms[0].type: this fake knows string and map, not "convert"`},
		"TransformField":   {templates: patch(`{fromFieldPath: spec.size, transforms: [{type: math, math: {multiply: 2}}]}`), want: `"resources[0].patches[0].transforms[0].math"`},
		"StringType":       {templates: patch(`{fromFieldPath: spec.size, transforms: [{type: string, string: {fmt: x}}]}`), want: "transforms[0].string"},
		"StringConvert":    {templates: patch(`{fromFieldPath: spec.size, transforms: [{type: string, string: {type: Convert, convert: ToUpper}}]}`), want: `string.convert"`},
		"StringMissing":    {templates: patch(`{fromFieldPath: spec.size, transforms: [{type: string}]}`), want: "transforms[0].string"},
		"EmptyMap":         {templates: patch(`{fromFieldPath: spec.size, transforms: [{type: map, map: {}}]}`), want: "transforms[0].map"},
		"UnmappedValue":    {templates: patch(`{fromFieldPath: spec.size, transforms: [{type: map, map: {small: 1}}]}`), want: `cannot render resource "a": patches[0]: transforms[0]: map: holds no "large"`},
		"MapOfNumber":      {templates: patch(`{fromFieldPath: spec.count, transforms: [{type: map, map: {"3": 1}}]}`), want: "transforms[0]: map: 3 is no string"},
		"BrokenPath":       {templates: patch(`{fromFieldPath: "spec["}`), want: "patches[0]"},
		"PathThroughValue": {templates: patch(`{fromFieldPath: spec.size, toFieldPath: kind.x}`), want: "patches[0]"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rsp := ask(t, tc.templates)
			results(t, rsp, fnv1.Severity_SEVERITY_FATAL, []string{tc.want})
			if !strings.HasPrefix(rsp.GetResults()[0].GetMessage(), "fake of function-patch-and-transform: ") {
				t.Errorf("%q does not say that it comes from a fake", rsp.GetResults()[0].GetMessage())
			}
		})
	}
}

func TestRefuseOtherInput(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"apiVersion: pt.fn.crossplane.io/v2\nkind: Resources", "apiVersion: pt.fn.crossplane.io/v1beta1\nkind: Resource", "{}"} {
		rsp, err := (&fake{log: logging.NewNopLogger()}).RunFunction(t.Context(), &fnv1.RunFunctionRequest{Input: object(t, in)})
		if err != nil {
			t.Fatal(err)
		}
		results(t, rsp, fnv1.Severity_SEVERITY_FATAL, []string{"apiVersion, kind"})
	}
}
