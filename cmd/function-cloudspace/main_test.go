// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	cases := map[string]struct {
		reason string
		env    string
		args   []string
		want   flags
	}{
		"AsCrossplaneRunsIt": {
			reason: "Crossplane gives no flags, and names the folder in the environment.",
			env:    "/tls/server",
			want:   flags{Network: "tcp", Address: ":9443", TLSCertsDir: "/tls/server", MaxRecvMessageSize: 4},
		},
		"Flags": {
			reason: "Each flag of the template has an effect.",
			args:   []string{"-d", "--network", "unix", "--address", "/run/f.sock", "--tls-certs-dir", "/certs", "--max-recv-message-size", "16"},
			want:   flags{Debug: true, Network: "unix", Address: "/run/f.sock", TLSCertsDir: "/certs", MaxRecvMessageSize: 16},
		},
		"Insecure": {
			reason: "On one's own machine it does without certificates.",
			args:   []string{"--insecure"},
			want:   flags{Network: "tcp", Address: ":9443", Insecure: true, MaxRecvMessageSize: 4},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TLS_SERVER_CERTS_DIR", tc.env)

			got, err := parse(tc.args)
			if err != nil {
				t.Fatalf("%s\nparse(%q): %v", tc.reason, tc.args, err)
			}

			if diff := cmp.Diff(&tc.want, got); diff != "" {
				t.Errorf("%s\nparse(%q): -want, +got:\n%s", tc.reason, tc.args, diff)
			}
		})
	}
}

func TestRunRefused(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		"NoCertificates": {"Nobody is served without certificates by mistake.", nil, exitBadValue, "set --tls-certs-dir"},
		"NoFolder":       {"A folder that is not there is named.", []string{"--tls-certs-dir", "/does/not/exist"}, exitFailed, "/does/not/exist"},
		"NoMessages":     {"Every message would be refused.", []string{"--insecure", "--max-recv-message-size", "0"}, exitBadValue, "--max-recv-message-size: 0 is too small"},
		"BadAddress":     {"An address that cannot be listened at is named.", []string{"--insecure", "--address", "nowhere"}, exitFailed, "nowhere"},
		"Unknown":        {"A flag that does not exist was meant to do something.", []string{"--cloud"}, exitBadValue, "unknown flag --cloud"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TLS_SERVER_CERTS_DIR", "")

			stderr := &bytes.Buffer{}
			if got := run(tc.args, stderr); got != tc.code {
				t.Errorf("%s\nrun(%q): want code %d, got %d", tc.reason, tc.args, tc.code, got)
			}

			if got := stderr.String(); !strings.Contains(got, tc.want) || strings.Count(got, "\n") != 1 {
				t.Errorf("%s\nrun(%q): want one line with %q, got %q", tc.reason, tc.args, tc.want, got)
			}
		})
	}
}
