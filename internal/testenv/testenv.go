// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package testenv

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// AssetsEnv names the folder that holds kube-apiserver, etcd and kubectl.
const AssetsEnv = "KUBEBUILDER_ASSETS"

// RunControlPlane runs etcd and kube-apiserver until the test ends. CRDs are
// read from the named folders, which are relative to the module's root, and
// installed.
func RunControlPlane(t *testing.T, crds ...string) *rest.Config {
	t.Helper()
	if os.Getenv(AssetsEnv) == "" {
		t.Fatalf("%s must name a folder with kube-apiserver, etcd and kubectl: run this test by make envtest", AssetsEnv)
	}
	e := &envtest.Environment{ErrorIfCRDPathMissing: true}
	for _, c := range crds {
		e.CRDDirectoryPaths = append(e.CRDDirectoryPaths, filepath.Join(root(), c))
	}
	// Stop works after a failed Start too, and is needed then.
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Errorf("cannot stop the control plane: %v", err)
		}
	})
	cluster, err := e.Start()
	if err != nil {
		t.Fatalf("cannot start the control plane: %v", err)
	}
	return cluster
}

// Apply creates the objects of the manifests, whose paths are relative to the
// module's root. Each is changed by edit first, unless that is nil.
func Apply(t *testing.T, c client.Client, edit func(*unstructured.Unstructured), manifests ...string) {
	t.Helper()
	for _, m := range manifests {
		for _, u := range objects(t, m) {
			if edit != nil {
				edit(u)
			}
			if err := c.Create(t.Context(), u); err != nil {
				t.Fatalf("cannot create %s %q of %q: %v", u.GetKind(), u.GetName(), m, err)
			}
		}
	}
}

func objects(t *testing.T, manifest string) []*unstructured.Unstructured {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root(), manifest))
	if err != nil {
		t.Fatalf("cannot read a manifest: %v", err)
	}
	var out []*unstructured.Unstructured
	for docs := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096); ; {
		u := &unstructured.Unstructured{}
		err := docs.Decode(u)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("cannot read manifest %q: %v", manifest, err)
		}
		out = append(out, u)
	}
}

// root is the folder of the module.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}
