// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"debug/elf"
	"os"
	"strings"
	"testing"
)

func TestProgramRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		content string
		want    string
	}{
		"OtherArch": {
			reason:  "the kernel would refuse it",
			content: executable(t, elf.EM_AARCH64, elf.PT_LOAD), want: `built for EM_AARCH64 and not for "amd64"`,
		},
		"Dynamic": {
			reason:  "its loader is not in the image",
			content: executable(t, elf.EM_X86_64, elf.PT_INTERP), want: "build it with CGO_ENABLED=0",
		},
		"Script": {
			reason:  "nor is a shell",
			content: "#!/bin/sh\n", want: "build it with GOOS=linux",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := provider(t, "amd64")
			if err := os.WriteFile(p.Program.File, []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Build(t.Context(), p)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), p.Program.File) {
				t.Errorf("%s: want an error that names the file and says %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}
