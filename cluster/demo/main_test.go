// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

// TestOnTestbed holds that the lines which are printed lead to the test bed that was used.
func TestOnTestbed(t *testing.T) {
	for name, want := range map[string]string{
		"":    "bin/testbed exec -- kubectl",
		"two": "bin/testbed --name two exec -- kubectl",
	} {
		t.Setenv("KUBEOPERA_TESTBED_NAME", name)

		if got := onTestbed("kubectl"); got != want {
			t.Errorf("%q: %s", name, got)
		}
	}
}
