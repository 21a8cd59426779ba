// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package secretscan

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// password needs each kind of escape.
const password = `pa/ss+wo"rd<1>&né`

// newKey is a private key in PEM.
func newKey(t *testing.T) string {
	t.Helper()

	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	der, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}

	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}

// certificate is one in PEM for everyone who only reads its type.
func certificate(content string) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte(content)}))
}

// keyLine is the first line of a key after its header.
func keyLine(key string) string { return strings.Split(key, "\n")[1] }

func kubeconfigOf(t *testing.T, key string) []byte {
	t.Helper()

	c := clientcmdapi.NewConfig()
	c.Clusters["c"] = &clientcmdapi.Cluster{Server: "https://api.example.org:6443", CertificateAuthorityData: []byte(certificate("the authority of the cluster"))}
	c.AuthInfos["u"] = &clientcmdapi.AuthInfo{
		ClientKeyData: []byte(key), ClientCertificateData: []byte(certificate("the certificate of the client")), Token: "a-token-that-is-opaque",
	}
	c.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "u"}
	c.CurrentContext = "x"

	raw, err := clientcmd.Write(*c)
	if err != nil {
		t.Fatal(err)
	}

	return raw
}

func secretOf(data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "s"}, Data: data}
}

func base64Of(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func jsonOf(t *testing.T, v any) string {
	t.Helper()

	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}

	return string(raw)
}

// TestScanFinds plants each kind of secret in each form. Everything around it is harmless.
func TestScanFinds(t *testing.T) {
	t.Parallel()

	key := newKey(t)
	kubeconfig := kubeconfigOf(t, key)
	record := base64Of(base64Of(strings.Repeat("a gzipped release, for all that it matters; ", 300) + rand.Text()))
	docker := `{"auths":{"ghcr.io":{"username":"robot","password":"of-the-registry","auth":"` + base64Of("robot:of-the-registry") + `"}}}`
	token := "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0." + rand.Text() + rand.Text()
	_, signature, _ := strings.Cut(token[4:], ".eyJpc3MiOiJrdWJlcm5ldGVzIn0.")

	secrets := &Secrets{}
	secrets.Learn("the host", secretOf(map[string][]byte{
		"password": []byte(password), "config": kubeconfig, "release": []byte(record), ".dockerconfigjson": []byte(docker), "token": []byte(token),
	}))

	scanner := NewScanner(secrets)
	cases := map[string]struct {
		line string
		// key of the Secret and form that the finding names.
		key, form string
	}{
		"Plain":           {password, "password", "as it is"},
		"JSON":            {jsonOf(t, map[string]string{"m": "x " + password}), "password", "quoted"},
		"JSONInJSON":      {jsonOf(t, jsonOf(t, map[string]string{"m": base64Of(password)})), "password", "in base64"},
		"Go":              {strconv.Quote(password), "password", "quoted"},
		"Query":           {"https://example.org/?p=" + url.QueryEscape(password), "password", "escaped for a URL"},
		"Path":            {"https://example.org/" + url.PathEscape(password), "password", "escaped for a URL"},
		"Userinfo":        {(&url.URL{Scheme: "https", Host: "example.org", User: url.UserPassword("robot", "of-the-registry")}).String(), ".dockerconfigjson", "as it is"},
		"Base64":          {base64Of(password), "password", "in base64"},
		"Base64Later":     {base64Of("x" + password), "password", "in base64"},
		"Basic":           {"Basic " + base64Of("id:"+password), "password", "in base64"},
		"Base64URL":       {base64.RawURLEncoding.EncodeToString([]byte(">>>" + password)), "password", "in base64"},
		"Base64Twice":     {base64Of("x" + base64Of("y"+password) + "z"), "password", "in base64 of base64"},
		"PEM":             {keyHeader, "a private key", "as it is"},
		"PEMLine":         {"  " + keyLine(key), "config", "as it is"},
		"PEMInJSON":       {jsonOf(t, key[len("-----BEGIN EC PRIVATE KEY-----"):len(key)-30]), "config", "as it is"},
		"Kubeconfig":      {strings.ReplaceAll(string(kubeconfig), "\n", `\n`), "config", "in base64"},
		"SecretInJSON":    {jsonOf(t, secretOf(map[string][]byte{"config": kubeconfig})), "config", "in base64 of base64"},
		"KubeconfigToken": {"Authorization: Bearer a-token-that-is-opaque", "config", "as it is"},
		"Docker":          {docker, ".dockerconfigjson", "as it is"},
		"DockerAuth":      {"Basic " + base64Of("robot:of-the-registry"), ".dockerconfigjson", "as it is"},
		"Token":           {"Bearer " + token, "token", "as it is"},
		"Signature":       {"..." + signature, "token", "as it is"},
		"RecordBegin":     {record[1:100], "release", "as it is"},
		"RecordEnd":       {record[len(record)-100:], "release", "as it is"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			text := "harmless\nsomething " + tc.line + " and more\nharmless"

			found, n, err := scanner.Scan("the log", strings.NewReader(text))
			if err != nil || n != int64(len(text)) {
				t.Fatalf("Scan(...): read %d of %d bytes, %v", n, len(text), err)
			}

			named := false

			for _, f := range found {
				said := f.String()
				named = named || strings.HasPrefix(said, "the log, line 2") && strings.Contains(said, tc.key) && f.Form == tc.form

				for _, secret := range []string{password, signature, "of-the-registry", keyLine(key), "a-token-that-is-opaque"} {
					if strings.Contains(said, secret) {
						t.Error("A finding says where, and never what")
					}
				}
			}

			if !named {
				t.Errorf("Scan(...): want %q %q in line 2, got %v", tc.key, tc.form, found)
			}
		})
	}
}

// TestScanLeavesPublic holds that what everyone may read is none.
func TestScanLeavesPublic(t *testing.T) {
	t.Parallel()

	secrets := &Secrets{}
	kubeconfig := kubeconfigOf(t, newKey(t))

	secrets.Learn("the host", secretOf(map[string][]byte{
		"config": kubeconfig, "ca.crt": []byte(certificate("an authority")), "namespace": []byte("kubeopera-system"),
		"endpoint": []byte("https://10.96.0.17:443"), "short": []byte("11 and less"), "tls.crt": []byte(certificate("one") + certificate("two")),
	}))

	config := secretOf(map[string][]byte{"config.yaml": []byte("controlPlane:\n  distro:\n    k8s:\n      enabled: true\n")})
	config.Name = configPrefix + "vc-alice"
	secrets.Learn("the host", config)

	public := []string{
		certificate("an authority"), certificate("one"), certificate("the authority of the cluster"), base64Of(certificate("the certificate of the client")),
		"https://api.example.org:6443", "https://10.96.0.17:443", "kubeopera-system", "11 and less", "      enabled: true", "-----BEGIN CERTIFICATE-----",
	}

	found, _, err := NewScanner(secrets).Scan("the log", strings.NewReader(strings.Join(public, "\n")))
	if err != nil || len(found) > 0 {
		t.Errorf("Scan(...): want nothing, got %v, %v", found, err)
	}

	if n := secrets.Len(); n != 2 {
		t.Errorf("The key and the token are all that is secret: got %d", n)
	}
}

// TestScanKeepsNames holds that a finding names the record that it stands in, unless the
// name itself is a secret.
func TestScanKeepsNames(t *testing.T) {
	t.Parallel()

	secrets := &Secrets{}
	secrets.LearnValue("a test", []byte("a long enough secret"))

	text := "Tenant n/alice, version 7\tx a long enough secret\n"

	found, _, err := NewScanner(secrets).Scan("Tenant", strings.NewReader(text))
	if err != nil || len(found) != 1 || found[0].Where != "Tenant, line 1 (Tenant n/alice, version 7)" {
		t.Errorf("Scan(...): got %v, %v", found, err)
	}

	found, _, err = NewScanner(secrets).Scan("Tenant", strings.NewReader("a long enough secret\tx\n"))
	if err != nil || len(found) != 1 || found[0].Where != "Tenant, line 1" {
		t.Errorf("Scan(...): got %v, %v", found, err)
	}
}

func TestPieces(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("0123456789", 30)
	cases := map[string]struct {
		reason string
		secret string
		want   int
	}{
		"Short":    {"What is short is found by chance.", "0123456789a", 0},
		"Least":    {"A line is one piece.", "0123456789ab", 1},
		"Lines":    {"Each line that is long enough is.", "0123456789ab\nx\n  0123456789ab\n", 2},
		"Long":     {"A long line has several.", long, 6},
		"VeryLong": {"There is a bound.", strings.Repeat(long, 100), mostPieces},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := pieces(tc.secret); len(got) != tc.want {
				t.Errorf("%s\npieces(...): want %d, got %d", tc.reason, tc.want, len(got))
			}
		})
	}
}

// TestInBase64 holds that what is looked for stands in the base64 of any text around it.
func TestInBase64(t *testing.T) {
	t.Parallel()

	for before := range 7 {
		for after := range 4 {
			whole := base64Of(strings.Repeat("\xff", before) + password + strings.Repeat("\xff", after))
			if got := inBase64(base64.StdEncoding, password)[before%3]; !strings.Contains(whole, got) || len(got) < len(password) {
				t.Errorf("%s", fmt.Sprintf("inBase64(...)[%d]: %q is not in %q", before%3, got, whole))
			}
		}
	}
}
