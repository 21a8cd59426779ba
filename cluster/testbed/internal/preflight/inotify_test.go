// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRaise(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		before   string
		want     string
		wantFail bool
	}{
		"Low":  {reason: "a low limit is raised", before: "128\n", want: "1024"},
		"High": {reason: "a higher limit stays", before: "8192\n", want: "8192\n"},
		"Text": {reason: "what is no number is not overwritten", before: "many\n", want: "many\n", wantFail: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			file := filepath.Join(t.TempDir(), "limit")
			if err := os.WriteFile(file, []byte(tc.before), 0o600); err != nil {
				t.Fatal(err)
			}

			if err := raise(file, 1024); (err != nil) != tc.wantFail {
				t.Errorf("%s: got %v", tc.reason, err)
			}

			if got, err := os.ReadFile(file); err != nil || string(got) != tc.want {
				t.Errorf("%s: got %q, %v, want %q", tc.reason, got, err, tc.want)
			}
		})
	}

	if err := raise(filepath.Join(t.TempDir(), "none"), 1); err == nil {
		t.Error("a limit that cannot be read is an error")
	}
}
