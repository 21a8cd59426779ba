// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package cloudspace_test

import (
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kubeopera/provider-kubeopera/internal/testenv"
)

// TestExamples holds what teams write in the examples against the definitions.
func TestExamples(t *testing.T) {
	examples := filepath.Join("..", "..", "examples")
	configuration := filepath.Join("..", "..", "package", "configuration")

	cluster := testenv.RunControlPlane(t)

	crds := rendered(t,
		filepath.Join(configuration, "cloudspace", "definition.yaml"), filepath.Join(configuration, "cloudspace-claims", "definition.yaml"),
		filepath.Join(examples, "composition", "definition.yaml"), filepath.Join(examples, "chaining", "definition.yaml"))
	if _, err := envtest.InstallCRDs(cluster, envtest.CRDInstallOptions{CRDs: crds}); err != nil {
		t.Fatalf("envtest.InstallCRDs(...): %v", err)
	}

	c, err := client.New(cluster, client.Options{})
	if err != nil {
		t.Fatalf("client.New(...): %v", err)
	}

	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatalf("Create(namespace): %v", err)
	}

	for _, file := range []string{
		"cloudspace/staging.yaml", "cloudspace/production.yaml", "claim/claim.yaml", "composition/workspace.yaml", "chaining/teamspace.yaml",
	} {
		t.Run(file, func(t *testing.T) {
			for _, u := range read(t, filepath.Join(examples, file)) {
				if err := c.Create(t.Context(), u, client.FieldValidation("Strict")); err != nil {
					t.Errorf("Create(%s %q): %v", u.GetKind(), u.GetName(), err)
				}
			}
		})
	}
}
