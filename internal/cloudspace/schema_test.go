// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cloudspace

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg"
	xrdv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// Folders of the configurations.
const (
	namespacedFolder = "cloudspace"
	claimsFolder     = "cloudspace-claims"
)

// load reads a file of package/, strictly.
func load[T any](t *testing.T, path ...string) *T {
	t.Helper()

	file := filepath.Join(append([]string{"..", "..", "package"}, path...)...)

	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("os.ReadFile(...): %v", err)
	}

	out := new(T)
	if err := yaml.UnmarshalStrict(b, out); err != nil {
		t.Fatalf("yaml.UnmarshalStrict(%q): %v", file, err)
	}

	return out
}

// definition is the XRD of the folder. The types of both versions are the same but
// for their names.
func definition(t *testing.T, folder string) *xrdv1.CompositeResourceDefinition {
	t.Helper()

	return load[xrdv1.CompositeResourceDefinition](t, "configuration", folder, "definition.yaml")
}

// schemaOf is that of the XRD's only version.
func schemaOf(t *testing.T, xrd *xrdv1.CompositeResourceDefinition) extv1.JSONSchemaProps {
	t.Helper()

	if len(xrd.Spec.Versions) != 1 {
		t.Fatalf("%s: want one version, got %d", xrd.GetName(), len(xrd.Spec.Versions))
	}

	out := extv1.JSONSchemaProps{}
	if err := yaml.UnmarshalStrict(xrd.Spec.Versions[0].Schema.OpenAPIV3Schema.Raw, &out); err != nil {
		t.Fatalf("yaml.UnmarshalStrict(schema of %s): %v", xrd.GetName(), err)
	}

	return out
}

func TestDefinitionsAreEqual(t *testing.T) {
	t.Parallel()

	namespaced, claims := definition(t, namespacedFolder), definition(t, claimsFolder)

	if diff := cmp.Diff(schemaOf(t, namespaced), schemaOf(t, claims)); diff != "" {
		t.Errorf("A team that changes from claims writes the same spec.\nschemas: -namespaced, +claims:\n%s", diff)
	}

	if diff := cmp.Diff(namespaced.Spec.Versions[0].AdditionalPrinterColumns, claims.Spec.Versions[0].AdditionalPrinterColumns); diff != "" {
		t.Errorf("Both are shown alike.\ncolumns: -namespaced, +claims:\n%s", diff)
	}

	if diff := cmp.Diff(connectionKeys, claims.Spec.ConnectionSecretKeys); diff != "" {
		t.Errorf("Crossplane lets through the details that the function hands on.\nconnectionSecretKeys: -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(ptr.To(xpv2.CompositeDeleteForeground), claims.Spec.DefaultCompositeDeletePolicy); diff != "" {
		t.Errorf("A claim stays until its CloudSpace is gone.\ndefaultCompositeDeletePolicy: -want, +got:\n%s", diff)
	}
}

func TestDefinitionsAreWhatIsRead(t *testing.T) {
	t.Parallel()

	spec := schemaOf(t, definition(t, namespacedFolder)).Properties["spec"]
	status := schemaOf(t, definition(t, namespacedFolder)).Properties["status"]

	for what, tc := range map[string]struct {
		offered extv1.JSONSchemaProps
		read    []string
	}{
		"spec":          {spec, slices.Collect(maps.Keys((&Spec{}).fields()))},
		"spec.advisor":  {spec.Properties["advisor"], fieldsOf(reflect.TypeFor[v1alpha1.AdvisorSpec]())},
		"spec.flux":     {spec.Properties["flux"], fieldsOf(reflect.TypeFor[Flux]())},
		"spec.vcluster": {spec.Properties["vcluster"], fieldsOf(reflect.TypeFor[VCluster]())},
		"status":        {status, fieldsOf(reflect.TypeFor[Status]())},
	} {
		if diff := cmp.Diff(slices.Sorted(slices.Values(tc.read)), slices.Sorted(maps.Keys(tc.offered.Properties))); diff != "" {
			t.Errorf("What is offered has an effect, and nothing has that is not offered.\n%s: -read, +offered:\n%s", what, diff)
		}
	}

	if fields := reflect.TypeFor[Spec]().NumField(); fields != len(spec.Properties) {
		t.Errorf("Each field of Spec is decoded: want %d, got %d", len(spec.Properties), fields)
	}
}

// fieldsOf are the names that a struct's fields have in JSON.
func fieldsOf(s reflect.Type) []string {
	var out []string

	for i := range s.NumField() {
		f := s.Field(i)

		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if strings.Contains(options, "inline") {
			out = append(out, fieldsOf(f.Type)...)
			continue
		}

		out = append(out, name)
	}

	return out
}

func TestDefinitionsHaveTheTenantsLimits(t *testing.T) {
	t.Parallel()

	crd := load[extv1.CustomResourceDefinition](t, "crds", "kubeopera.io_tenants.yaml")
	tenant := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties
	got := bare(t, schemaOf(t, definition(t, namespacedFolder)).Properties["spec"]).Properties

	advisor := tenant["advisor"]
	enabled := advisor.Properties["enabled"]
	enabled.Default = nil // Unset is a third state here.
	advisor.Properties["enabled"] = enabled

	flux := tenant["flux"]
	delete(flux.Properties, "valuesOverrides")

	vcluster := tenant["vcluster"]
	delete(vcluster.Properties, "valuesOverrides")
	delete(vcluster.Properties, "distro")

	// A name that is made must not change either, which a rule of the spec says.
	name := tenant["tenantName"]
	name.XValidations = slices.DeleteFunc(name.XValidations, func(v extv1.ValidationRule) bool { return v.Rule == "self == oldSelf" })

	want := map[string]extv1.JSONSchemaProps{
		"spaceName": name, "userID": tenant["userID"], "advisor": advisor, "flux": flux, "vcluster": vcluster,
	}
	for _, field := range []string{"cpu", "memory", "storage", "pods"} {
		want[field] = tenant["quota"].Properties[field]
	}

	for field := range want {
		want[field] = bare(t, want[field])
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("What a CloudSpace may be, its Tenant may be, and the other way round.\nspec: -Tenant, +CloudSpace:\n%s", diff)
	}
}

// bare is the schema without what is only for people.
func bare(t *testing.T, s extv1.JSONSchemaProps) extv1.JSONSchemaProps {
	t.Helper()

	b, err := json.Marshal(s)
	if err != nil {
		t.Fatalf("json.Marshal(...): %v", err)
	}

	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("json.Unmarshal(...): %v", err)
	}

	strip(v)

	if b, err = json.Marshal(v); err != nil {
		t.Fatalf("json.Marshal(...): %v", err)
	}

	out := extv1.JSONSchemaProps{}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatalf("json.Unmarshal(...): %v", err)
	}

	return out
}

func strip(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			strip(e)
		}
	case map[string]any:
		for _, k := range []string{"description", "message"} {
			if _, ok := v[k].(string); ok {
				delete(v, k)
			}
		}

		for _, e := range v {
			strip(e)
		}
	}
}

func TestRulesAreTheSchemas(t *testing.T) {
	t.Parallel()

	spec := schemaOf(t, definition(t, namespacedFolder)).Properties["spec"]
	rule := func(field string) extv1.ValidationRule { return spec.Properties[field].XValidations[0] }

	if want, got := "self.matches('"+nameRule.String()+"')", rule("spaceName").Rule; got != want {
		t.Errorf("spaceName: want %q, got %q", want, got)
	}

	if want, got := "self.matches('"+userIDRule.String()+"')", rule("userID").Rule; got != want {
		t.Errorf("userID: want %q, got %q", want, got)
	}

	if made := spec.XValidations[1].Rule; !strings.Contains(made, nameRule.String()) {
		t.Errorf("A name that is made has the same rule: got %q", made)
	}

	for field, a := range amounts {
		if want, got := field+" must be "+a.want, rule(field).Message; got != want {
			t.Errorf("%s: want %q, got %q", field, want, got)
		}

		for _, bound := range []string{a.from.String(), a.to.String()} {
			if bound == "1n" {
				bound = "0" // Above it, in the schema's words.
			}

			if got := rule(field).Rule; !strings.Contains(strings.ReplaceAll(got, "'100000'", "'100k'"), "quantity('"+bound+"')") {
				t.Errorf("%s: want the bound %q, got %q", field, bound, got)
			}
		}
	}

	s := Spec{}
	s.setDefaults()

	for field, got := range map[string]string{"cpu": s.CPU.String(), "memory": s.Memory.String()} {
		if want := string(spec.Properties[field].Default.Raw); want != `"`+got+`"` {
			t.Errorf("%s: want the default %s, got %q", field, want, got)
		}
	}
}

func TestCompositions(t *testing.T) {
	t.Parallel()

	for _, folder := range []string{namespacedFolder, claimsFolder} {
		xrd, c := definition(t, folder), load[xrdv1.Composition](t, "configuration", folder, "composition.yaml")

		if diff := cmp.Diff(xrdv1.TypeReferenceTo(xrd.GetCompositeGroupVersionKind()), c.Spec.CompositeTypeRef); diff != "" {
			t.Errorf("%s: the Composition is the XRD's: -want, +got:\n%s", folder, diff)
		}

		if want, got := c.GetName(), xrd.Spec.DefaultCompositionRef.Name; got != want {
			t.Errorf("%s: a second Composition of somebody's does not take its place: want the default %q, got %q", folder, want, got)
		}

		want := xpkg.ToDNSLabel("kubeopera/function-cloudspace")
		if got := c.Spec.Pipeline[0].FunctionRef.Name; len(c.Spec.Pipeline) != 1 || got != want {
			t.Errorf("%s: the function has the name that Crossplane gives it: want %q, got %q", folder, want, got)
		}

		if want, got := folder == claimsFolder, c.Spec.WriteConnectionSecretsToNamespace != nil; got != want {
			t.Errorf("%s: a claim gets its Secret by way of the XR's: want a namespace: %t, got one: %t", folder, want, got)
		}
	}
}
