// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster/vclustertest"
)

// schemaFolderEnv names the folder with the published schemas. Without it they are looked for in the
// folder shared/data beside the checkout; tests that need one skip where that is absent.
const schemaFolderEnv = "KUBEOPERA_CHART_SCHEMAS"

// moduleSchemas are the versions whose chart comes with vCluster's own Go module. The other known ones
// are files.
var moduleSchemas = map[string]bool{"0.34.0": true, "0.36.1": true}

// chartSchemas says which known schemas hold for a chart. One between two known versions must satisfy
// both neighbours, as far as they offer the distribution.
var chartSchemas = map[string][]string{
	"0.20.0": {"0.20.4"},
	"0.20.4": {"0.20.4"},
	"0.21.2": {"0.21.2"},
	"0.22.0": {"0.21.2", "0.30.4"},
	"0.25.3": {"0.21.2", "0.30.4"},
	"0.29.1": {"0.21.2", "0.30.4"},
	"0.30.4": {"0.30.4"},
	"0.31.0": {"0.30.4", "0.33.4"},
	"0.32.1": {"0.30.4", "0.33.4"},
	"0.33.4": {"0.33.4"},
	"0.34.0": {"0.34.0"},
	"0.35.2": {"0.34.0", "0.36.1"},
	"0.36.1": {"0.36.1"},
}

// schemaSpecs are the ways in which a Spec can differ.
var schemaSpecs = map[string]func(*Spec){
	"plain":      func(*Spec) {},
	"kubernetes": func(s *Spec) { s.KubernetesVersion = "1.31.4" },
	"registry":   func(s *Spec) { s.ImageRegistry = "registry.example.com/mirror" },
	"bare":       func(s *Spec) { s.Environment = "" },
	"all": func(s *Spec) {
		s.KubernetesVersion, s.ImageRegistry = "v1.31.4", "registry.example.com"
		s.Overrides = nested("controlPlane.proxy.extraSANs", []any{"alice.example.com"})
	},
}

func TestValuesSatisfyTheSchemas(t *testing.T) {
	t.Parallel()

	for chart, schemas := range chartSchemas {
		for _, distro := range []v1alpha1.Distro{"", v1alpha1.DistroK3s, v1alpha1.DistroK8s} {
			for name, change := range schemaSpecs {
				for _, schema := range schemas {
					if !offers(t, chart, schema, distro) {
						continue
					}

					t.Run(fmt.Sprintf("%s against %s %s %s", chart, schema, distro, name), func(t *testing.T) {
						t.Parallel()

						s := aliceSpec(chart)
						s.Distro = distro
						change(&s)

						values := mustValues(t, s)
						if err := validate(t, schema, values); err != nil {
							t.Errorf("the schema refuses the values: %v", err)
						}

						doc := rawSchema(t, schema)
						for _, path := range undeclared(doc, doc, values, "") {
							t.Errorf("the schema does not declare %s", path)
						}
					})
				}
			}
		}
	}
}

// offers says whether a chart, and the schema that stands for it, both have the distribution.
func offers(t *testing.T, chart, schema string, distro v1alpha1.Distro) bool {
	t.Helper()

	for i, version := range []string{chart, schema} {
		v, err := ParseChartVersion(version)
		if err != nil {
			t.Fatal(err)
		}

		if i == 0 && distro == "" {
			distro = v.defaultDistro()
		}

		if !v.hasDistro(distro) {
			return false
		}
	}

	return true
}

// TestSchemasRefuse keeps the facts that the values are built on: where one of them changes, this fails.
// It also shows that the schemas refuse something at all.
func TestSchemasRefuse(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		path    string
		value   any
		refused []string
		taken   []string
	}{
		"export switch": {
			"export is always on", "exportKubeConfig.enabled", true,
			[]string{"0.20.4", "0.21.2", "0.30.4", "0.33.4", "0.34.0", "0.36.1"}, nil,
		},
		"k3s": {
			"gone from 0.33", "controlPlane.distro.k3s.enabled", true,
			[]string{"0.33.4", "0.34.0", "0.36.1"}, []string{"0.20.4", "0.21.2", "0.30.4"},
		},
		"startup period": {
			"not yet in 0.21", "controlPlane.statefulSet.probes.startupProbe.periodSeconds", int64(1),
			[]string{"0.20.4", "0.21.2"}, []string{"0.30.4", "0.33.4", "0.34.0", "0.36.1"},
		},
		"readiness threshold": {
			"not yet in 0.21", "controlPlane.statefulSet.probes.readinessProbe.failureThreshold", int64(1),
			[]string{"0.20.4", "0.21.2"}, []string{"0.30.4", "0.33.4", "0.34.0", "0.36.1"},
		},
		"controller manager": {
			"each schema has its arguments", "controlPlane.distro.k8s.controllerManager.extraArgs", []any{"--v=2"},
			nil, []string{"0.20.4", "0.21.2", "0.30.4", "0.33.4", "0.34.0", "0.36.1"},
		},
		"C4: values of 0.19": {
			"another layout", "syncer.extraArgs", []any{},
			[]string{"0.20.4", "0.36.1"}, nil,
		},
		"label that is no string": {
			"labels hold strings", "controlPlane.statefulSet.labels.x", true,
			[]string{"0.20.4", "0.36.1"}, nil,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for _, schema := range tc.refused {
				if validate(t, schema, nested(tc.path, tc.value)) == nil {
					t.Errorf("%s: %s takes %s", tc.reason, schema, tc.path)
				}
			}

			for _, schema := range tc.taken {
				if err := validate(t, schema, nested(tc.path, tc.value)); err != nil {
					t.Errorf("%s: %s refuses %s: %v", tc.reason, schema, tc.path, err)
				}
			}
		})
	}
}

// TestUndeclared shows that the search for undeclared paths finds one.
func TestUndeclared(t *testing.T) {
	t.Parallel()

	doc := rawSchema(t, "0.36.1")
	values := Merge(nested("controlPlane.distro.k3s.enabled", true), nested("controlPlane.statefulSet.labels.x", "y"))

	got := undeclared(doc, doc, values, "")
	if len(got) != 1 || got[0] != ".controlPlane.distro.k3s" {
		t.Errorf("want .controlPlane.distro.k3s alone, got %v", got)
	}
}

// undeclared lists the paths of a value that a schema does not name. A node without properties is a free
// map, such as labels, in which every key is declared.
func undeclared(root, node map[string]any, value any, path string) []string {
	if ref, ok := node["$ref"].(string); ok {
		keys := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
		node, _ = at(root, keys...).(map[string]any)
	}

	m, isMap := value.(map[string]any)
	properties, hasProperties := node["properties"].(map[string]any)

	if !isMap || !hasProperties {
		return nil
	}

	var out []string

	for key, below := range m {
		next, ok := properties[key].(map[string]any)
		if !ok {
			out = append(out, path+"."+key)

			continue
		}

		out = append(out, undeclared(root, next, below, path+"."+key)...)
	}

	return out
}

// validate holds values, as JSON would carry them, against one schema.
func validate(t *testing.T, version string, values map[string]any) error {
	t.Helper()

	b, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}

	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}

	return schema(t, version).Validate(doc)
}

var compiled sync.Map

func schema(t *testing.T, version string) *jsonschema.Schema {
	t.Helper()

	if s, ok := compiled.Load(version); ok {
		return s.(*jsonschema.Schema)
	}

	c := jsonschema.NewCompiler()
	if err := c.AddResource("file:///schema.json", rawSchema(t, version)); err != nil {
		t.Fatal(err)
	}

	s, err := c.Compile("file:///schema.json")
	if err != nil {
		t.Fatal(err)
	}

	compiled.Store(version, s)

	return s
}

var raw sync.Map

// rawSchema reads a schema. Its own $id is left out, so that its references stay inside of the document.
func rawSchema(t *testing.T, version string) map[string]any {
	t.Helper()

	if doc, ok := raw.Load(version); ok {
		return doc.(map[string]any)
	}

	b, err := os.ReadFile(schemaPath(t, version))
	if err != nil {
		t.Fatal(err)
	}

	doc := fromJSON(t, string(b))
	delete(doc, "$id")
	raw.Store(version, doc)

	return doc
}

// schemaPath finds a schema, or skips the test where the folder of the published ones is absent.
func schemaPath(t *testing.T, version string) string {
	t.Helper()

	if moduleSchemas[version] {
		return filepath.Join(vclustertest.ModuleDir(t, version), "chart", "values.schema.json")
	}

	folder, named := os.LookupEnv(schemaFolderEnv)
	if !named {
		folder = filepath.Join("..", "..", "..", "shared", "data")
	}

	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) && !named {
		t.Skipf("the folder %s with the chart schemas is absent; set %s to another one", folder, schemaFolderEnv)
	}

	return filepath.Join(folder, "vcluster-chart-"+version+".values.schema.json")
}
