// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
)

func plan() Plan {
	return Plan{
		Cluster: "c", Node: "n", Server: "https://10.0.0.1:6443",
		APIHosts: []string{"10.0.0.1", "kubernetes.default"}, NodeHosts: []string{"10.0.0.1", "n"},
		Users: map[string][]string{"admin": {"root", "system:masters"}, "plain": {"nobody"}},
	}
}

func leaf(t *testing.T, p []byte) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode(p)
	if block == nil {
		t.Fatalf("no PEM in %q", p)
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func read(t *testing.T, elem ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPlanCertificates(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "pki")
	if err := plan().Write(folder); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		authority string
		usage     x509.ExtKeyUsage
		hosts     []string
		foreign   string
	}{
		"apiserver":                {authority: "ca", usage: x509.ExtKeyUsageServerAuth, hosts: []string{"10.0.0.1", "kubernetes.default"}, foreign: "front-proxy-ca"},
		"kubelet-server":           {authority: "ca", usage: x509.ExtKeyUsageServerAuth, hosts: []string{"10.0.0.1", "n"}, foreign: "front-proxy-ca"},
		"apiserver-kubelet-client": {authority: "ca", usage: x509.ExtKeyUsageClientAuth, foreign: "front-proxy-ca"},
		"front-proxy-client":       {authority: "front-proxy-ca", usage: x509.ExtKeyUsageClientAuth, foreign: "ca"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := tls.LoadX509KeyPair(filepath.Join(folder, name+".crt"), filepath.Join(folder, name+".key")); err != nil {
				t.Error(err)
			}
			cert := leaf(t, read(t, folder, name+".crt"))
			verify := func(authority string) error {
				pool := x509.NewCertPool()
				pool.AddCert(leaf(t, read(t, folder, authority+".crt")))
				_, err := cert.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{tc.usage}})
				return err
			}
			if err := verify(tc.authority); err != nil {
				t.Error(err)
			}
			if verify(tc.foreign) == nil {
				t.Errorf("%s has signed it too", tc.foreign)
			}
			for _, h := range tc.hosts {
				if err := cert.VerifyHostname(h); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if info, err := os.Stat(filepath.Join(folder, "ca.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("key of the authority: %v, %v", info.Mode(), err)
	}
	if block, _ := pem.Decode(read(t, folder, "service-accounts.key")); block == nil {
		t.Error("there is no key for service accounts")
	}
}

func TestPlanKubeconfigs(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := plan().Write(folder); err != nil {
		t.Fatal(err)
	}
	for name, who := range plan().Users {
		config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(folder, name+".kubeconfig"))
		if err != nil {
			t.Fatal(err)
		}
		if config.Host != "https://10.0.0.1:6443" {
			t.Errorf("%s: server is %q", name, config.Host)
		}
		cert := leaf(t, config.CertData)
		if diff := cmp.Diff(who, append([]string{cert.Subject.CommonName}, cert.Subject.Organization...)); diff != "" {
			t.Errorf("%s: user and groups: -want +got:\n%s", name, diff)
		}
		if diff := cmp.Diff(string(read(t, folder, "ca.crt")), string(config.CAData)); diff != "" {
			t.Errorf("%s: authority: -want +got:\n%s", name, diff)
		}
	}
}
