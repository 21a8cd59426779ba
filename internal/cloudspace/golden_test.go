// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cloudspace_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/resource"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubeopera/provider-kubeopera/internal/function"
)

var update = flag.Bool("update", false, "write what is composed into the want.yaml of each golden case")

const (
	golden = "testdata/golden"
	header = "# SPDX-FileCopyrightText: 2026 The KubeOpera Authors\n# SPDX-License-Identifier: Apache-2.0\n\n"
	// resourceName is where Crossplane keeps the name that a composed resource has in
	// its composition.
	resourceName = "crossplane.io/composition-resource-name"
)

// TestGolden runs the function as Crossplane does. Each folder has an XR, what is
// observed of what it is composed of, and what the function answers.
func TestGolden(t *testing.T) {
	t.Parallel()

	for _, name := range cases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			rsp := compose(t, name)

			b, err := protojson.Marshal(rsp)
			if err != nil {
				t.Fatalf("protojson.Marshal(...): %v", err)
			}

			got, err := yaml.JSONToYAML(b)
			if err != nil {
				t.Fatalf("yaml.JSONToYAML(...): %v", err)
			}

			got = append([]byte(header), got...)
			path := filepath.Join(golden, name, "want.yaml")

			if *update {
				if err := os.WriteFile(path, got, 0o600); err != nil {
					t.Fatalf("os.WriteFile(...): %v", err)
				}
			}

			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("os.ReadFile(...): %v; run the test with -update, and read what it wrote", err)
			}

			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", path, diff)
			}
		})
	}
}

// cases are the names of the golden folders.
func cases(t *testing.T) []string {
	t.Helper()

	entries, err := os.ReadDir(golden)
	if err != nil {
		t.Fatalf("os.ReadDir(%q): %v", golden, err)
	}

	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}

	if len(out) == 0 {
		t.Fatalf("%s is empty", golden)
	}

	return out
}

// compose is what the function answers in the golden case.
func compose(t *testing.T, name string) *fnv1.RunFunctionResponse {
	t.Helper()

	rsp, err := function.New(logging.NewNopLogger()).RunFunction(context.Background(), request(t, name))
	if err != nil {
		t.Fatalf("RunFunction(...): %v", err)
	}

	return rsp
}

// request is what Crossplane asks in the golden case. A Secret that is observed
// holds the connection details of what refers to it.
func request(t *testing.T, name string) *fnv1.RunFunctionRequest {
	t.Helper()

	var observed []*unstructured.Unstructured

	path := filepath.Join(golden, name, "observed.yaml")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		observed = read(t, path)
	}

	details := map[string]map[string][]byte{}

	for _, o := range observed {
		if o.GetKind() != "Secret" {
			continue
		}

		data, _, _ := unstructured.NestedStringMap(o.Object, "stringData")
		bytes := map[string][]byte{}

		for k, v := range data {
			bytes[k] = []byte(v)
		}

		details[o.GetName()] = bytes
	}

	xr := read(t, filepath.Join(golden, name, "xr.yaml"))[0]
	state := &fnv1.State{Composite: asResource(xr, details), Resources: map[string]*fnv1.Resource{}}

	for _, o := range observed {
		if n := o.GetAnnotations()[resourceName]; n != "" {
			state.Resources[n] = asResource(o, details)
		}
	}

	return &fnv1.RunFunctionRequest{Observed: state}
}

func asResource(o *unstructured.Unstructured, details map[string]map[string][]byte) *fnv1.Resource {
	secret, _, _ := unstructured.NestedString(o.Object, "spec", "writeConnectionSecretToRef", "name")

	return &fnv1.Resource{Resource: resource.MustStructObject(o), ConnectionDetails: details[secret]}
}

// read reads the objects of a file of YAML.
func read(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()

	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("os.ReadFile(...): %v", err)
	}

	var out []*unstructured.Unstructured

	for _, doc := range bytes.Split(b, []byte("\n---\n")) {
		u := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(doc, &u.Object); err != nil {
			t.Fatalf("yaml.Unmarshal(%q): %v", path, err)
		}

		out = append(out, u)
	}

	return out
}
