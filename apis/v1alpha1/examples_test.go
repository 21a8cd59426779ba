// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package v1alpha1_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What the examples say of the provider's own kinds is what the API takes.
func testExamples(t *testing.T, c client.Client) {
	for _, folder := range []string{"tenant", "import", "advisoragent", "tenantquota"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "examples", folder, "*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no examples in %q: %v", folder, err)
		}
		for _, file := range files {
			for _, u := range objectsIn(t, file) {
				err := c.Create(t.Context(), u, client.DryRunAll, client.FieldValidation("Strict"))
				if err != nil && u.GetKind() != "Namespace" { // That of the provider is there.
					t.Errorf("%s: Create(%s %q): %v", file, u.GetKind(), u.GetName(), err)
				}
			}
		}
	}
}

// objectsIn the file.
func objectsIn(t *testing.T, file string) []*object {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []*object
	for d := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(b), 4096); ; {
		u := &object{}
		if err := d.Decode(&u.Object); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if len(u.Object) > 0 {
			out = append(out, u)
		}
	}
}
