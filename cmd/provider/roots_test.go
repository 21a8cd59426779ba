// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/x509"
	"os"
	"os/exec"
	"testing"
)

// Roots are loaded once in a process, so the test runs itself in another one.
func TestRootsWithoutFiles(t *testing.T) {
	t.Parallel()
	const inside = "TEST_WITHOUT_CERTIFICATES"
	if os.Getenv(inside) != "" {
		roots, err := x509.SystemCertPool()
		if err != nil || roots.Equal(x509.NewCertPool()) {
			t.Errorf("an image without certificates must trust those of the internet, got none, %v", err)
		}
		return
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRootsWithoutFiles$", "-test.count=1")
	cmd.Env = append(os.Environ(), inside+"=true", "SSL_CERT_FILE=/dev/null", "SSL_CERT_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
