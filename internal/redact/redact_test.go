// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package redact

import "testing"

func TestAddress(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		given  string
		want   string
	}{
		"Plain":      {"There is nothing to hide.", "https://charts.example.org:8443/a/b", "https://charts.example.org:8443/a/b"},
		"Digest":     {"A digest is no host.", "oci://ghcr.io/a/b@sha256:0123", "oci://ghcr.io/a/b@sha256:0123"},
		"OfADigest":  {"Before a digest may be a password.", "oci://robot:hunter2@ghcr.io/a@sha256:0123", "oci://[hidden]@ghcr.io/a@sha256:0123"},
		"InAQuery":   {"A digest in a query is a query.", "https://example.org/a?b=hunter2@sha256:0123", "https://example.org/a?[hidden]"},
		"Password":   {"Neither name nor password is shown.", "https://robot:hunter2@example.org/a", "https://[hidden]@example.org/a"},
		"Token":      {"A name alone may be a token.", "https://hunter2@example.org", "https://[hidden]@example.org"},
		"Slash":      {"A password that is not escaped is one.", "https://robot:hun/ter/2@example.org/a", "https://[hidden]@example.org/a"},
		"Question":   {"It cannot be told from a query.", "https://robot:hun/ter?2@example.org/a", "https://[hidden]"},
		"Hash":       {"Nor from a fragment.", "https://robot:hun#ter2@example.org/a", "https://[hidden]"},
		"QueryAt":    {"Nor a query from it.", "https://example.org/a?sig=hunter2@hunter3", "https://[hidden]"},
		"Both":       {"Whatever stands before.", "https://robot:hunter2@example.org/a?b=hunter2@hunter3", "https://[hidden]"},
		"At":         {"It may hold anything.", "https://robot:hun@ter2@example.org/a", "https://[hidden]@example.org/a"},
		"Space":      {"Even what no address may hold.", "oci://robot:hun ter2@example.org/a", "oci://[hidden]@example.org/a"},
		"Query":      {"It may be signed.", "https://example.org/a?X-Amz-Signature=hunter2", "https://example.org/a?[hidden]"},
		"Fragment":   {"It may be a token.", "https://example.org/a#hunter2", "https://example.org/a#[hidden]"},
		"LateScheme": {"What looks like one may come later.", "//robot:hunter2@://", "[hidden]@://"},
		"NoScheme":   {"It may be missing.", "robot:hunter2@example.org", "[hidden]@example.org"},
		"NoAddress":  {"Other text stays.", "kubeopera-api:8090", "kubeopera-api:8090"},
		"Everything": {"One does not save the other.", "https://robot:hunter2@example.org/a?b=hunter2#hunter2", "https://[hidden]@example.org/a?[hidden]"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Address(tc.given); got != tc.want {
				t.Errorf("%s\nAddress(%q): want %q, got %q", tc.reason, tc.given, tc.want, got)
			}
		})
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ given, want string }{
		"None": {"no address? none@all #1", "no address? none@all #1"},
		"Go": {
			`Get "https://s3.example.org/x?X-Amz-Signature=hunter2": dial tcp 10.0.0.1:443: i/o timeout`,
			`Get "https://s3.example.org/x?[hidden]": dial tcp 10.0.0.1:443: i/o timeout`,
		},
		"Two": {
			"http://a:hunter2@x, then http://b:hunter2@y/z",
			"http://[hidden]@x, then http://[hidden]@y/z",
		},
		"Proxy": {
			`invalid proxy address "http://robot:hunter2@proxy:port": invalid port`,
			`invalid proxy address "http://[hidden]@proxy:port": invalid port`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Text(tc.given); got != tc.want {
				t.Errorf("Text(%q): want %q, got %q", tc.given, tc.want, got)
			}
		})
	}
}
