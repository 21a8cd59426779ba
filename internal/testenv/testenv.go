// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package testenv

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"k8s.io/client-go/rest"
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

// root is the folder of the module.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}
