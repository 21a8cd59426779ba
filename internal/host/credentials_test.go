// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// TestParseKubeconfig holds that a user's kubeconfig makes the provider run and
// read nothing, and that no error quotes it.
func TestParseKubeconfig(t *testing.T) {
	t.Parallel()

	const marker = "HUSH-HUSH"

	type parts struct {
		config  *clientcmdapi.Config
		cluster *clientcmdapi.Cluster
		user    *clientcmdapi.AuthInfo
	}

	cases := map[string]struct {
		reason string
		change func(parts)
		says   string
	}{
		"Token": {"a token", func(parts) {}, ""},
		"Exec": {"a program", func(p parts) {
			p.user.Exec = &clientcmdapi.ExecConfig{Command: "/bin/sh", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: "Never"}
		}, "exec"},
		"Provider":    {"a plugin", func(p parts) { p.user.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "x"} }, "auth-provider"},
		"TokenFile":   {"the provider's own token", func(p parts) { p.user.TokenFile = "/var/run/secrets/token" }, "tokenFile"},
		"Certificate": {"a file of the provider", func(p parts) { p.user.ClientCertificate = "/etc/x" }, "client-certificate-data"},
		"Key":         {"a file of the provider", func(p parts) { p.user.ClientKey = "/etc/x" }, "client-key-data"},
		"CA":          {"a file of the provider", func(p parts) { p.cluster.CertificateAuthority = "/etc/x" }, "certificate-authority-data"},
		"NoServer":    {"nowhere to go", func(p parts) { p.cluster.Server = "" }, "no cluster with a server"},
		"NoContext":   {"a guess", func(p parts) { p.config.CurrentContext = "" }, "current-context"},
		"NoCluster":   {"a guess", func(p parts) { p.config.Contexts["c"].Cluster = "other" }, "no cluster"},
		"NoUser":      {"a guess", func(p parts) { p.config.Contexts["c"].AuthInfo = "other" }, "no user"},
		"BadProxy":    {"what client-go refuses", func(p parts) { p.cluster.ProxyURL = "ftp://" + marker + ":x" }, "cannot be used"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := parts{clientcmdapi.NewConfig(), &clientcmdapi.Cluster{Server: "https://host.example.org"}, &clientcmdapi.AuthInfo{Token: marker}}
			p.config.CurrentContext = "c"
			p.config.Contexts["c"] = &clientcmdapi.Context{Cluster: "host", AuthInfo: "me"}
			p.config.Clusters["host"], p.config.AuthInfos["me"] = p.cluster, p.user
			tc.change(p)

			raw, err := clientcmd.Write(*p.config)
			if err != nil {
				t.Fatal(err)
			}

			cfg, err := ParseKubeconfig(raw)
			if errors.Is(err, ErrCredentialsRefused) != (tc.says != "") {
				t.Fatalf("%s: got %v", tc.reason, err)
			}

			if tc.says == "" {
				if cfg.Host != "https://host.example.org" || cfg.BearerToken != marker {
					t.Errorf("%s: it leads to %q", tc.reason, cfg.Host)
				}

				return
			}

			if !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), marker) || cfg != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}

	for _, raw := range []string{"", "{", "apiVersion: v1\nkind: Config\n" + marker, "apiVersion: v1\nkind: Pod\nmetadata: {name: " + marker + "}"} {
		if _, err := ParseKubeconfig([]byte(raw)); !errors.Is(err, ErrCredentialsRefused) || strings.Contains(err.Error(), marker) {
			t.Errorf("%q: %v", raw, err)
		}
	}
}
