// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	older = `{"verb":"create","user":{"username":"admin"},"requestURI":"/api/v1/namespaces","objectRef":{"resource":"namespaces"}}` + "\n"
	newer = `{"verb":"update","user":{"username":"provider"},"requestURI":"/apis/x/tenants/a/status","objectRef":{"resource":"tenants","subresource":"status"}}` + "\n"
)

func TestReadAudit(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		added  string
		want   []string
	}{
		"Nothing":    {reason: "nothing was written since", want: nil},
		"Whole":      {reason: "only what came since the mark counts", added: newer, want: []string{"tenants/status: provider update /apis/x/tenants/a/status"}},
		"Incomplete": {reason: "a line that is being written is not complete", added: newer + older[:20], want: []string{"tenants/status: provider update /apis/x/tenants/a/status"}},
		"Two":        {reason: "a kind without a subresource has no slash", added: newer + older, want: []string{"tenants/status: provider update /apis/x/tenants/a/status", "namespaces: admin create /api/v1/namespaces"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			file := filepath.Join(t.TempDir(), "audit.log")
			write(t, file, older)

			mark, err := MarkAudit(file)
			if err != nil {
				t.Fatal(err)
			}

			write(t, file, older+tc.added)

			events, err := ReadAudit(file, mark)
			if err != nil {
				t.Fatal(err)
			}

			var got []string
			for _, e := range events {
				got = append(got, e.Kind()+": "+e.String())
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestReadAuditErrs(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "audit.log")
	if _, err := MarkAudit(file); err == nil {
		t.Error("a log that is not there has no end")
	}

	write(t, file, older)

	if _, err := ReadAudit(file, AuditMark(len(older)+1)); !errors.Is(err, errCut) {
		t.Errorf("a log that was cut must not pass for one in which nothing was written: got %v", err)
	}

	write(t, file, "rubbish\n")

	if _, err := ReadAudit(file, 0); err == nil {
		t.Error("a line that is no JSON must not be left out")
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()

	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
