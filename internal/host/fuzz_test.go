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

// FuzzParseKubeconfig holds that no kubeconfig makes the provider run or read anything of its own pod, whatever
// it looks like, and that no refusal quotes it.
func FuzzParseKubeconfig(f *testing.F) {
	const marker = "HUSH-HUSH"

	c := clientcmdapi.NewConfig()
	c.CurrentContext = "c"
	c.Contexts["c"] = &clientcmdapi.Context{Cluster: "host", AuthInfo: "me"}
	c.Clusters["host"] = &clientcmdapi.Cluster{Server: "https://host.example.org"}
	c.AuthInfos["me"] = &clientcmdapi.AuthInfo{Token: marker}

	raw, err := clientcmd.Write(*c)
	if err != nil {
		f.Fatal(err)
	}

	f.Add(raw)
	f.Add([]byte(strings.ReplaceAll(string(raw), "token:", "tokenFile:")))
	f.Add([]byte(strings.ReplaceAll(string(raw), "server:", "certificate-authority: /etc/x\n    server:")))
	f.Add([]byte(strings.ReplaceAll(string(raw), "token: "+marker, "exec: {command: sh, apiVersion: client.authentication.k8s.io/v1}")))
	f.Add([]byte(strings.ReplaceAll(string(raw), "me", "\"\"")))
	f.Add([]byte(`{"contexts":[{"name":"c","context":null}],"clusters":[{"name":"","cluster":null}],"users":[{"name":"","user":null}],"current-context":"c"}`))
	f.Add([]byte(`{"kind":"Secret"}`))
	f.Add([]byte("\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		cfg, err := ParseKubeconfig(raw)
		if err != nil {
			if !errors.Is(err, ErrCredentialsRefused) || strings.Contains(err.Error(), marker) {
				t.Errorf("got %v", err)
			}

			return
		}

		if cfg.ExecProvider != nil || cfg.AuthProvider != nil || cfg.BearerTokenFile != "" || cfg.CAFile != "" || cfg.CertFile != "" || cfg.KeyFile != "" {
			t.Errorf("it runs or reads something: %v", cfg)
		}

		if cfg.Host == "" {
			t.Error("it leads nowhere")
		}
	})
}
