// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestAsked(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		queues string
		want   uint64
		err    error
		fails  bool
	}{
		"Asked":  {reason: "the last packet's number says how many there were", queues: "  100 3741927   0 2   128     0     0       42  1\n", want: 42},
		"Second": {reason: "other queues are not ours", queues: "   10 111 0 2 128 0 0 7 1\n  100 222 0 2 128 0 0 8 1\n", want: 8},
		"Other":  {reason: "who listens to another queue decides on nothing here", queues: " 1000 111 0 2 128 0 0 7 1\n", err: ErrNobodyListens, fails: true},
		"None":   {reason: "the kernel shows queues with a listener only", err: ErrNobodyListens, fails: true},
		"Text":   {reason: "another format is no number", queues: "100 1 0 2 128 0 0 many 1\n", fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			proc := t.TempDir()
			folder := filepath.Join(proc, "7", "net", "netfilter")
			if err := os.MkdirAll(folder, 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, "nfnetlink_queue"), []byte(tc.queues), 0o600); err != nil {
				t.Fatal(err)
			}

			got, err := Asked(proc, 7)
			if (err != nil) != tc.fails || tc.err != nil && !errors.Is(err, tc.err) || got != tc.want {
				t.Errorf("%s: Asked(...) = %d, %v, want %d, %v", tc.reason, got, err, tc.want, tc.err)
			}
		})
	}

	if _, err := Asked(t.TempDir(), 7); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Asked(...) of a process that has ended = %v, want %v", err, fs.ErrNotExist)
	}
}
