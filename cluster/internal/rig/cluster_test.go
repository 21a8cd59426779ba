// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"path/filepath"
	"testing"
)

func TestConnectNeedsKubeconfig(t *testing.T) {
	t.Setenv("KUBECONFIG", "")

	if _, err := Connect(); err == nil {
		t.Error("no KUBECONFIG must not mean some other cluster")
	}

	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "absent"))

	if _, err := Connect(); err == nil {
		t.Error("a KUBECONFIG that is not there must not mean some other cluster")
	}
}

func TestRoot(t *testing.T) {
	got, err := Root()
	if err != nil {
		t.Fatal(err)
	}

	if want, err := filepath.Abs("../../.."); err != nil || got != want {
		t.Errorf("got %q, want %q (%v)", got, want, err)
	}

	t.Chdir(t.TempDir())

	if got, err := Root(); err == nil {
		t.Errorf("got %q outside of any module", got)
	}
}
