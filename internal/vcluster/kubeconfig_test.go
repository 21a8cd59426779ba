// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// notAfter is when the test certificates end.
var notAfter = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// pair is a certificate and its key, PEM.
type pair struct{ cert, key []byte }

// newPair makes a self-signed certificate.
func newPair(t testing.TB, name string) pair {
	t.Helper()

	return newPairUntil(t, name, notAfter)
}

// newPairUntil makes one that is valid for a year until then.
func newPairUntil(t testing.TB, name string, notAfter time.Time) pair {
	t.Helper()

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: notAfter.AddDate(-1, 0, 0), NotAfter: notAfter,
	}

	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}

	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}

	return pair{
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}),
	}
}

// exported is a kubeconfig as vCluster exports it, with an unused context that must not survive.
func exported(ca, user pair) *clientcmdapi.Config {
	c := clientcmdapi.NewConfig()
	c.CurrentContext = "my-vcluster"
	c.Contexts["my-vcluster"] = &clientcmdapi.Context{Cluster: "my-vcluster", AuthInfo: "my-vcluster", Namespace: "default"}
	c.Contexts["other"] = &clientcmdapi.Context{Cluster: "elsewhere", AuthInfo: "nobody"}
	c.Clusters["my-vcluster"] = &clientcmdapi.Cluster{Server: "https://localhost:8443", CertificateAuthorityData: ca.cert}
	c.AuthInfos["my-vcluster"] = &clientcmdapi.AuthInfo{ClientCertificateData: user.cert, ClientKeyData: user.key}

	return c
}

func encode(t testing.TB, c *clientcmdapi.Config) []byte {
	t.Helper()

	b, err := clientcmd.Write(*c)
	if err != nil {
		t.Fatal(err)
	}

	return b
}

func mustParse(t *testing.T, data []byte) *Kubeconfig {
	t.Helper()

	k, err := ParseKubeconfig(data)
	if err != nil {
		t.Fatal(err)
	}

	return k
}

func mustBytes(t *testing.T, k *Kubeconfig) []byte {
	t.Helper()

	b, err := k.Bytes()
	if err != nil {
		t.Fatal(err)
	}

	return b
}

func TestKubeconfigFacts(t *testing.T) {
	t.Parallel()

	ca, user := newPair(t, "ca"), newPair(t, "admin")
	k := mustParse(t, encode(t, exported(ca, user)))

	type facts struct {
		Endpoint, CA, Cert, Key string
	}

	want := facts{"https://localhost:8443", string(ca.cert), string(user.cert), string(user.key)}
	got := facts{k.Endpoint(), string(k.CA()), string(k.ClientCert()), string(k.ClientKey())}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	rc := k.RESTConfig()
	wantRC := &rest.Config{
		Host:            "https://localhost:8443",
		TLSClientConfig: rest.TLSClientConfig{CAData: ca.cert, CertData: user.cert, KeyData: user.key},
	}

	if rc.Host != wantRC.Host || rc.BearerToken != "" || rc.Insecure || !cmp.Equal(rc.TLSClientConfig, wantRC.TLSClientConfig) {
		t.Errorf("rest config: want %v, got %v", wantRC, rc)
	}

	rc.CAData[0] = 0
	k.CA()[0] = 0

	if !bytes.Equal(k.CA(), ca.cert) {
		t.Error("a caller can change the CA")
	}
}

func TestKubeconfigWithServer(t *testing.T) {
	t.Parallel()

	ca, user := newPair(t, "ca"), newPair(t, "admin")
	k := mustParse(t, encode(t, exported(ca, user)))

	cases := map[string]struct {
		reason     string
		server     string
		serverName string
	}{
		"service": {"the certificate is held against the host", "https://vc-a.vcluster-a.svc:443", ""},
		"address": {"the certificate is held against another name", "https://10.0.0.1:30443", "vc-a.vcluster-a.svc"},
		"IPv6":    {"with its brackets", "https://[fd00::1]:6443", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			moved, err := k.WithServer(tc.server, tc.serverName)
			if err != nil {
				t.Fatal(err)
			}

			again := mustParse(t, mustBytes(t, moved.WithName("vc-alice")))
			if again.Endpoint() != tc.server {
				t.Errorf("%s: want %s, got %s", tc.reason, tc.server, again.Endpoint())
			}

			if got := again.RESTConfig().ServerName; got != tc.serverName {
				t.Errorf("%s: want TLS server name %q, got %q", tc.reason, tc.serverName, got)
			}

			if k.Endpoint() != "https://localhost:8443" {
				t.Errorf("the original was changed: %s", k.Endpoint())
			}
		})
	}

	if _, err := k.WithServer("http://localhost", ""); err == nil {
		t.Error("plain HTTP is taken as a server")
	}
}

func TestKubeconfigBytes(t *testing.T) {
	t.Parallel()

	ca, user := newPair(t, "ca"), newPair(t, "admin")
	data := encode(t, exported(ca, user))
	first := mustBytes(t, mustParse(t, data))

	if second := mustBytes(t, mustParse(t, data)); !bytes.Equal(first, second) {
		t.Errorf("equal input, unequal bytes:\n%s\n%s", first, second)
	}

	if again := mustBytes(t, mustParse(t, first)); !bytes.Equal(first, again) {
		t.Errorf("what was written reads differently:\n%s\n%s", first, again)
	}

	named, err := clientcmd.Load(mustBytes(t, mustParse(t, data).WithName("vc-alice")))
	if err != nil {
		t.Fatal(err)
	}

	want := clientcmdapi.NewConfig()
	want.CurrentContext = "vc-alice"
	want.Contexts["vc-alice"] = &clientcmdapi.Context{Cluster: "vc-alice", AuthInfo: "vc-alice"}
	want.Clusters["vc-alice"] = &clientcmdapi.Cluster{Server: "https://localhost:8443", CertificateAuthorityData: ca.cert}
	want.AuthInfos["vc-alice"] = &clientcmdapi.AuthInfo{ClientCertificateData: user.cert, ClientKeyData: user.key}

	if got := encode(t, named); !bytes.Equal(got, encode(t, want)) {
		t.Errorf("more or less than is needed:\n%s", got)
	}
}

// TestFingerprint holds that it tells apart what differs in anything, and nothing else.
func TestFingerprint(t *testing.T) {
	t.Parallel()

	ca, user := newPair(t, "ca"), newPair(t, "admin")
	k := mustParse(t, encode(t, exported(ca, user)))
	seen := map[[sha256.Size]byte]string{k.Fingerprint(): "the first"}

	if again := mustParse(t, mustBytes(t, k)); again.Fingerprint() != k.Fingerprint() {
		t.Error("equal kubeconfigs, unequal fingerprints")
	}

	moved, err := k.WithServer("https://10.96.0.7", "")
	if err != nil {
		t.Fatal(err)
	}

	named, err := k.WithServer("https://10.96.0.7", "vc-alice")
	if err != nil {
		t.Fatal(err)
	}

	token := exported(ca, user)
	token.AuthInfos["my-vcluster"].Token = "opaque"

	for what, other := range map[string]*Kubeconfig{
		"its name":           k.WithName("vc-alice"),
		"its server":         moved,
		"the server's name":  named,
		"its CA":             mustParse(t, encode(t, exported(newPair(t, "ca"), user))),
		"its user":           mustParse(t, encode(t, exported(ca, newPair(t, "admin")))),
		"its token":          mustParse(t, encode(t, token)),
		"where a part ends":  {name: "ab", server: k.server, ca: []byte("c")},
		"where another does": {name: "a", server: k.server, ca: []byte("bc")},
	} {
		if same, ok := seen[other.Fingerprint()]; ok {
			t.Errorf("that of one with another in %s is that of %s", what, same)
		}

		seen[other.Fingerprint()] = what
	}
}

func TestKubeconfigWithToken(t *testing.T) {
	t.Parallel()

	c := exported(newPair(t, "ca"), pair{})
	c.AuthInfos["my-vcluster"].Token = "opaque"

	k := mustParse(t, mustBytes(t, mustParse(t, encode(t, c))))
	if got := k.RESTConfig().BearerToken; got != "opaque" {
		t.Errorf("token: want opaque, got %q", got)
	}

	if len(k.ClientCert()) != 0 {
		t.Error("a user with a token has no certificate")
	}
}

func TestExportedKubeconfig(t *testing.T) {
	t.Parallel()

	config := encode(t, exported(newPair(t, "ca"), newPair(t, "admin")))

	cases := map[string]struct {
		reason string
		data   map[string][]byte
		err    error
	}{
		"there":       {"the key that vCluster writes", map[string][]byte{"config": config}, nil},
		"no data":     {"the Secret comes first", nil, ErrNoKubeconfig},
		"other keys":  {"the key comes later", map[string][]byte{"certificate-authority": {1}}, ErrNoKubeconfig},
		"empty":       {"nothing to publish", map[string][]byte{"config": {}}, ErrNoKubeconfig},
		"white space": {"nothing to publish", map[string][]byte{"config": []byte(" \n")}, ErrNoKubeconfig},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := ExportedKubeconfig(tc.data)
			if !errors.Is(err, tc.err) {
				t.Fatalf("%s: want %v, got %v", tc.reason, tc.err, err)
			}

			if err != nil {
				wantWords(t, err, `"config"`)
			}
		})
	}
}

func TestParseKubeconfigRefuses(t *testing.T) {
	t.Parallel()

	ca, user, stranger := newPair(t, "ca"), newPair(t, "admin"), newPair(t, "stranger")

	cases := map[string]struct {
		reason string
		change func(c *clientcmdapi.Config, cluster *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo)
		words  []string
	}{
		"no current context": {
			"which one is meant is unknown",
			func(c *clientcmdapi.Config, _ *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.CurrentContext = "" },
			[]string{"current-context"},
		},
		"unknown context": {
			"it leads nowhere",
			func(c *clientcmdapi.Config, _ *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				c.CurrentContext = "gone"
			},
			[]string{`"gone"`, "contexts"},
		},
		"unknown cluster": {
			"it leads nowhere",
			func(c *clientcmdapi.Config, _ *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				c.CurrentContext = "other"
			},
			[]string{`"elsewhere"`, "clusters"},
		},
		"unknown user": {
			"it leads nowhere",
			func(c *clientcmdapi.Config, _ *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				c.AuthInfos = map[string]*clientcmdapi.AuthInfo{}
			},
			[]string{`"my-vcluster"`, "users"},
		},
		"no server":     {"nothing to talk to", onCluster(func(c *clientcmdapi.Cluster) { c.Server = "" }), []string{"server is missing"}},
		"plain HTTP":    {"credentials would be sent in the clear", onCluster(func(c *clientcmdapi.Cluster) { c.Server = "http://localhost" }), []string{`"http://localhost"`, "https"}},
		"no host":       {"nothing to talk to", onCluster(func(c *clientcmdapi.Cluster) { c.Server = "https://:8443" }), []string{"https://HOST"}},
		"no URL":        {"nothing to talk to", onCluster(func(c *clientcmdapi.Cluster) { c.Server = "https://a b" }), []string{"no URL"}},
		"token in URL":  {"a secret that the message must not repeat", onCluster(func(c *clientcmdapi.Cluster) { c.Server = "https://u:hunter2@h/?t=hunter2" }), []string{`"https://[hidden]@h/?[hidden]"`}},
		"no CA":         {"the server cannot be trusted", onCluster(func(c *clientcmdapi.Cluster) { c.CertificateAuthorityData = nil }), []string{"certificate-authority-data is missing"}},
		"rubbish CA":    {"the server cannot be trusted", onCluster(func(c *clientcmdapi.Cluster) { c.CertificateAuthorityData = []byte("x") }), []string{"certificate-authority-data", "PEM"}},
		"CA file":       {"a file of another machine", onCluster(func(c *clientcmdapi.Cluster) { c.CertificateAuthority = "/etc/passwd" }), []string{"certificate-authority is a file"}},
		"insecure":      {"the server cannot be trusted", onCluster(func(c *clientcmdapi.Cluster) { c.InsecureSkipTLSVerify = true; c.CertificateAuthorityData = nil }), []string{"insecure-skip-tls-verify"}},
		"proxy":         {"a way that the provider does not go", onCluster(func(c *clientcmdapi.Cluster) { c.ProxyURL = "http://proxy" }), []string{"proxy-url"}},
		"exec":          {"runs a program", onUser(func(u *clientcmdapi.AuthInfo) { u.Exec = &clientcmdapi.ExecConfig{Command: "id"} }), []string{"exec is refused"}},
		"auth provider": {"runs code", onUser(func(u *clientcmdapi.AuthInfo) { u.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "x"} }), []string{"auth-provider"}},
		"cert file":     {"a file of another machine", onUser(func(u *clientcmdapi.AuthInfo) { u.ClientCertificate = "/x" }), []string{"client-certificate is"}},
		"key file":      {"a file of another machine", onUser(func(u *clientcmdapi.AuthInfo) { u.ClientKey = "/x" }), []string{"client-key is"}},
		"token file":    {"a file of another machine", onUser(func(u *clientcmdapi.AuthInfo) { u.TokenFile = "/x" }), []string{"tokenFile"}},
		"password":      {"not served any more", onUser(func(u *clientcmdapi.AuthInfo) { u.Username, u.Password = "a", "b" }), []string{"username"}},
		"impersonation": {"acts as somebody else", onUser(func(u *clientcmdapi.AuthInfo) { u.ImpersonateGroups, u.Impersonate = []string{"g"}, "a" }), []string{"as is refused"}},
		"no key":        {"half a credential", onUser(func(u *clientcmdapi.AuthInfo) { u.ClientKeyData = nil }), []string{"client-key-data"}},
		"no credential": {"nobody", onUser(func(u *clientcmdapi.AuthInfo) { *u = clientcmdapi.AuthInfo{} }), []string{"neither", "token"}},
		"key of others": {"the server would refuse it", onUser(func(u *clientcmdapi.AuthInfo) { u.ClientKeyData = stranger.key }), []string{"client-certificate-data and client-key-data"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := exported(ca, user)
			tc.change(c, c.Clusters["my-vcluster"], c.AuthInfos["my-vcluster"])

			_, err := ParseKubeconfig(encode(t, c))
			if err == nil || errors.Is(err, ErrNoKubeconfig) {
				t.Fatalf("%s: want a refusal, got %v", tc.reason, err)
			}

			wantWords(t, err, tc.words...)
		})
	}
}

type configChange = func(*clientcmdapi.Config, *clientcmdapi.Cluster, *clientcmdapi.AuthInfo)

func onCluster(change func(*clientcmdapi.Cluster)) configChange {
	return func(_ *clientcmdapi.Config, c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { change(c) }
}

func onUser(change func(*clientcmdapi.AuthInfo)) configChange {
	return func(_ *clientcmdapi.Config, _ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { change(u) }
}

func TestParseKubeconfigQuotesNoSecret(t *testing.T) {
	t.Parallel()

	const secret = "c2VjcmV0LWtleS1tYXRlcmlhbA"

	cases := map[string]string{
		"not YAML":      "users: [{" + secret,
		"another shape": "users: " + secret,
		"bad base64":    "apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user: {client-key-data: '" + secret + "!'}",
		"in the server": "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n" +
			"users: [{name: a, user: {}}]\nclusters:\n- name: a\n  cluster: {server: 'https://a:" + secret + "@b', certificate-authority-data: eA==}",
		"broken server": "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, user: a}}]\n" +
			"users: [{name: a, user: {}}]\nclusters:\n- name: a\n  cluster: {server: 'https://a:" + secret + "@b:x', certificate-authority-data: eA==}",
	}
	for name, in := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := ParseKubeconfig([]byte(in))
			if err == nil {
				t.Fatal("want an error")
			}

			if strings.Contains(err.Error(), secret[:8]) {
				t.Errorf("the error quotes the secret: %v", err)
			}
		})
	}
}

func TestParseKubeconfigEmpty(t *testing.T) {
	t.Parallel()

	for _, in := range []string{"", " \n\t"} {
		if _, err := ParseKubeconfig([]byte(in)); !errors.Is(err, ErrNoKubeconfig) {
			t.Errorf("%q: want %v, got %v", in, ErrNoKubeconfig, err)
		}
	}
}

func FuzzParseKubeconfig(f *testing.F) {
	c := exported(newPair(f, "ca"), newPair(f, "admin"))
	f.Add(encode(f, c))
	c.AuthInfos["my-vcluster"] = &clientcmdapi.AuthInfo{Token: "t"}
	f.Add(encode(f, c))
	f.Add([]byte("apiVersion: v1\nkind: Config\n"))
	f.Add([]byte(`{"contexts":[{"name":"a","context":null}],"current-context":"a"}`))
	f.Add([]byte("\x00{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := ParseKubeconfig(data)
		if err != nil {
			return
		}

		first := mustBytes(t, k)
		if again := mustBytes(t, mustParse(t, first)); !bytes.Equal(first, again) {
			t.Errorf("what was written reads differently:\n%s\n%s", first, again)
		}
	})
}
