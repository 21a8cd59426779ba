// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"

	"github.com/kubeopera/provider-kubeopera/internal/redact"
)

// ErrNoKubeconfig says that vCluster has not written its kubeconfig yet.
var ErrNoKubeconfig = errors.New("no kubeconfig yet")

// Kubeconfig is the way into one virtual cluster: one server, one CA and one user, all inline. It does not
// change once made.
type Kubeconfig struct {
	name       string
	server     *url.URL
	serverName string
	ca         []byte
	clientCert []byte
	clientKey  []byte
	token      string
}

// ExportedKubeconfig parses the kubeconfig in the data of the Secret that vCluster exports. It is an
// ErrNoKubeconfig that names the key as long as the Secret exists without it.
func ExportedKubeconfig(data map[string][]byte) (*Kubeconfig, error) {
	config := data[KeyConfig]
	if len(bytes.TrimSpace(config)) == 0 {
		return nil, fmt.Errorf("%w: the exported Secret has nothing under the key %q", ErrNoKubeconfig, KeyConfig)
	}

	return ParseKubeconfig(config)
}

// ParseKubeconfig parses a kubeconfig and checks that its current context is complete, trustworthy and
// self-contained: an https server, a CA and a client certificate with its key, or a token, all inline.
// What would run a program, read a file, skip the check of the server or act as somebody else is refused.
// Empty data is an ErrNoKubeconfig. No error quotes key material.
func ParseKubeconfig(data []byte) (*Kubeconfig, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrNoKubeconfig)
	}

	config, err := clientcmd.Load(data)
	if err != nil {
		// The parser's own message may quote what it could not read.
		return nil, errors.New("cannot parse kubeconfig: it is not a document of kind Config")
	}

	cluster, user, err := current(config)
	if err != nil {
		return nil, fmt.Errorf("cannot use kubeconfig: %w", err)
	}

	k := &Kubeconfig{name: config.CurrentContext, serverName: cluster.TLSServerName}
	if err := k.setCluster(cluster); err != nil {
		return nil, fmt.Errorf("cannot use kubeconfig: cluster of context %q: %w", config.CurrentContext, err)
	}

	if err := k.setUser(user); err != nil {
		return nil, fmt.Errorf("cannot use kubeconfig: user of context %q: %w", config.CurrentContext, err)
	}

	return k, nil
}

// current finds the cluster and the user of the current context.
func current(config *clientcmdapi.Config) (*clientcmdapi.Cluster, *clientcmdapi.AuthInfo, error) {
	if config.CurrentContext == "" {
		return nil, nil, errors.New("it has no current-context")
	}

	context := config.Contexts[config.CurrentContext]
	if context == nil {
		return nil, nil, fmt.Errorf("current-context %q is not among its contexts", config.CurrentContext)
	}

	cluster := config.Clusters[context.Cluster]
	if cluster == nil {
		return nil, nil, fmt.Errorf("cluster %q of context %q is not among its clusters", context.Cluster, config.CurrentContext)
	}

	user := config.AuthInfos[context.AuthInfo]
	if user == nil {
		return nil, nil, fmt.Errorf("user %q of context %q is not among its users", context.AuthInfo, config.CurrentContext)
	}

	return cluster, user, nil
}

func (k *Kubeconfig) setCluster(c *clientcmdapi.Cluster) error {
	switch {
	case c.InsecureSkipTLSVerify:
		return errors.New("insecure-skip-tls-verify is refused")
	case c.CertificateAuthority != "":
		return errors.New("certificate-authority is a file; certificate-authority-data is needed")
	case c.ProxyURL != "":
		return errors.New("proxy-url is refused")
	case len(c.CertificateAuthorityData) == 0:
		return errors.New("certificate-authority-data is missing")
	}

	server, err := parseServer(c.Server)
	if err != nil {
		return err
	}

	if _, err := cert.ParseCertsPEM(c.CertificateAuthorityData); err != nil {
		return errors.New("certificate-authority-data holds no PEM certificate")
	}

	k.server, k.ca = server, c.CertificateAuthorityData

	return nil
}

func parseServer(s string) (*url.URL, error) {
	if s == "" {
		return nil, errors.New("server is missing")
	}

	u, err := url.Parse(s)
	if err != nil {
		return nil, errors.New("server is no URL")
	}

	if u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("server %q must be https://HOST, with an optional port and path", redact.Address(s))
	}

	return u, nil
}

func (k *Kubeconfig) setUser(u *clientcmdapi.AuthInfo) error {
	if field := foreignCredential(u); field != "" {
		return fmt.Errorf("%s is refused: only client-certificate-data with client-key-data, or token, is accepted", field)
	}

	hasCert, hasKey := len(u.ClientCertificateData) > 0, len(u.ClientKeyData) > 0

	switch {
	case hasCert != hasKey:
		return errors.New("client-certificate-data and client-key-data must both be set")
	case !hasCert && u.Token == "":
		return errors.New("it has neither client-certificate-data nor token")
	case hasCert:
		if _, err := tls.X509KeyPair(u.ClientCertificateData, u.ClientKeyData); err != nil {
			return errors.New("client-certificate-data and client-key-data are no PEM pair that belongs together")
		}
	}

	k.clientCert, k.clientKey, k.token = u.ClientCertificateData, u.ClientKeyData, u.Token

	return nil
}

// foreignCredential names the first field of a user that a self-contained kubeconfig must not have.
func foreignCredential(u *clientcmdapi.AuthInfo) string {
	fields := []struct {
		name string
		set  bool
	}{
		{"exec", u.Exec != nil},
		{"auth-provider", u.AuthProvider != nil},
		{"client-certificate", u.ClientCertificate != ""},
		{"client-key", u.ClientKey != ""},
		{"tokenFile", u.TokenFile != ""},
		{"username", u.Username != "" || u.Password != ""},
		{"as", u.Impersonate != "" || u.ImpersonateUID != "" || len(u.ImpersonateGroups) > 0 || len(u.ImpersonateUserExtra) > 0},
	}
	for _, f := range fields {
		if f.set {
			return f.name
		}
	}

	return ""
}

// WithServer returns a copy that reaches the same cluster at another address, an https URL. When
// serverName is not empty, the server's certificate is held against that name instead of the address's.
func (k *Kubeconfig) WithServer(address, serverName string) (*Kubeconfig, error) {
	server, err := parseServer(address)
	if err != nil {
		return nil, fmt.Errorf("cannot change the kubeconfig's server: %w", err)
	}

	out := *k
	out.server, out.serverName = server, serverName

	return &out, nil
}

// WithName returns a copy whose context, cluster and user have the given name. vCluster gives each
// cluster's the same one, so that two of them cannot be merged into one file.
func (k *Kubeconfig) WithName(name string) *Kubeconfig {
	out := *k
	out.name = name

	return &out
}

// Bytes is the kubeconfig as YAML, with nothing in it but what is needed. Equal kubeconfigs give equal
// bytes.
func (k *Kubeconfig) Bytes() ([]byte, error) {
	config := clientcmdapi.NewConfig()
	config.CurrentContext = k.name
	config.Contexts[k.name] = &clientcmdapi.Context{Cluster: k.name, AuthInfo: k.name}
	config.Clusters[k.name] = &clientcmdapi.Cluster{
		Server:                   k.Endpoint(),
		TLSServerName:            k.serverName,
		CertificateAuthorityData: k.ca,
	}
	config.AuthInfos[k.name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: k.clientCert,
		ClientKeyData:         k.clientKey,
		Token:                 k.token,
	}

	out, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("cannot write kubeconfig: %w", err)
	}

	return out, nil
}

// Fingerprint is the same for equal kubeconfigs, and another for any other. It is a hash, and gives
// nothing away.
func (k *Kubeconfig) Fingerprint() [sha256.Size]byte {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(k.name), []byte(k.Endpoint()), []byte(k.serverName), k.ca, k.clientCert, k.clientKey, []byte(k.token)} {
		fmt.Fprintf(h, "%d:", len(part)) // So that no byte of one part counts as another's.
		h.Write(part)
	}

	return [sha256.Size]byte(h.Sum(nil))
}

// RESTConfig is a new configuration for clients of the cluster.
func (k *Kubeconfig) RESTConfig() *rest.Config {
	return &rest.Config{
		Host:        k.Endpoint(),
		BearerToken: k.token,
		TLSClientConfig: rest.TLSClientConfig{
			ServerName: k.serverName,
			CAData:     k.CA(),
			CertData:   k.ClientCert(),
			KeyData:    k.ClientKey(),
		},
	}
}

// Endpoint is the server's URL.
func (k *Kubeconfig) Endpoint() string {
	return k.server.String()
}

// CA is the certificate of the cluster's CA, PEM.
func (k *Kubeconfig) CA() []byte {
	return bytes.Clone(k.ca)
}

// ClientCert is the user's certificate, PEM. It is empty for a user with a token.
func (k *Kubeconfig) ClientCert() []byte {
	return bytes.Clone(k.clientCert)
}

// ClientKey is the key of ClientCert, PEM.
func (k *Kubeconfig) ClientKey() []byte {
	return bytes.Clone(k.clientKey)
}

// ClientCertValidity is the time in which the user's certificate is valid, that of the first to end if
// there are several. Both are zero for a user with a token.
func (k *Kubeconfig) ClientCertValidity() (from, to time.Time) {
	certs, err := cert.ParseCertsPEM(k.clientCert)
	if err != nil {
		return from, to
	}

	for _, c := range certs {
		if to.IsZero() || c.NotAfter.Before(to) {
			from, to = c.NotBefore, c.NotAfter
		}
	}

	return from, to
}
