// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/Masterminds/semver/v3"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"

	"github.com/kubeopera/provider-kubeopera/internal/redact"
)

// ChartRef says which chart, and how to reach the registry that has it.
type ChartRef struct {
	// Repository is the full address of the chart without its version:
	// oci://HOST/PATH/CHART, or for a chart repository with an index.yaml
	// https://HOST/PATH/CHART or http://HOST/PATH/CHART.
	Repository string

	// Version is one exact version, no range. A version is taken not to change
	// once it is published.
	Version string

	// Credentials for the registry.
	Credentials Credentials

	// CABundle holds PEM certificates to trust besides those of the system.
	CABundle []byte

	// PlainHTTP makes oci:// use HTTP. It must be asked for: the provider never
	// falls back to it.
	PlainHTTP bool
}

// Credentials for a registry.
type Credentials struct {
	// DockerConfigJSON is what a Secret of type kubernetes.io/dockerconfigjson
	// holds. Empty means no credentials.
	DockerConfigJSON []byte
}

// String names the chart and its version without any secret.
func (r ChartRef) String() string { return r.Repository + ":" + r.Version }

// source is a ChartRef that was checked and taken apart.
type source struct {
	ChartRef
	url  *url.URL
	name string
	cred auth.Credential
	// roots are nil for those of the system.
	roots *x509.CertPool
}

// resolve checks a reference. Its errors name the field.
func (r ChartRef) resolve(ctx context.Context) (*source, error) {
	u, err := url.Parse(r.Repository)
	if err != nil {
		return nil, fmt.Errorf("chart repository %q is not a URL: use oci://HOST/PATH/CHART", redact.Address(r.Repository))
	}
	switch u.Scheme {
	case "oci", "https", "http":
	default:
		return nil, fmt.Errorf("chart repository %q has scheme %q: use oci, https or http, as in oci://HOST/PATH/CHART", redact.Address(r.Repository), u.Scheme)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	name := path.Base(u.Path)
	if u.Host == "" || len(u.Path) < 2 || strings.Trim(name, ".") == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("chart repository %q must be %s://HOST/PATH/CHART and nothing else", redact.Address(r.Repository), u.Scheme)
	}
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(r.Version, "v")); err != nil {
		return nil, fmt.Errorf("chart version %q is not an exact version: use one such as 0.21.2", r.Version)
	}
	cred, err := r.Credentials.of(ctx, u.Host)
	if err != nil {
		return nil, err
	}
	roots, err := r.roots()
	if err != nil {
		return nil, err
	}
	return &source{ChartRef: r, url: u, name: name, cred: cred, roots: roots}, nil
}

// roots are the certificates to trust; nil for those of the system.
func (r ChartRef) roots() (*x509.CertPool, error) {
	if len(r.CABundle) == 0 {
		return nil, nil
	}
	out, err := x509.SystemCertPool()
	if err != nil {
		out = x509.NewCertPool()
	}
	if !out.AppendCertsFromPEM(r.CABundle) {
		return nil, errors.New("registry CA bundle holds no PEM certificate")
	}
	return out, nil
}

// of returns the credential for one registry host.
func (c Credentials) of(ctx context.Context, host string) (auth.Credential, error) {
	if len(c.DockerConfigJSON) == 0 {
		return auth.EmptyCredential, nil
	}
	store, err := credentials.NewMemoryStoreFromDockerConfig(c.DockerConfigJSON)
	if err != nil {
		// The cause may quote the secret.
		return auth.EmptyCredential, fmt.Errorf("registry credentials are not a valid dockerconfigjson: expect {\"auths\": {HOST: {\"auth\": BASE64}}}")
	}
	cred, err := store.Get(ctx, host)
	if err == nil && cred == auth.EmptyCredential && (host == "docker.io" || host == "registry-1.docker.io") {
		cred, err = store.Get(ctx, "index.docker.io")
	}
	return cred, err
}

// key identifies the chart in the cache. All that decides whether the registry
// would have served it is part of it: who may not download a private chart does
// not find it in the cache either.
func (s *source) key() string {
	raw, err := json.Marshal([]any{
		s.url.String(), s.Version, s.PlainHTTP, sha256.Sum256(s.CABundle),
		s.cred.Username, s.cred.Password, s.cred.RefreshToken, s.cred.AccessToken,
	})
	if err != nil { // strings and bytes only
		panic(err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// accept checks that c is the chart that was asked for.
func (s *source) accept(c *Chart) error {
	if c.Name() != s.name || c.Version() != s.Version {
		return fmt.Errorf("%w: %q holds chart %q version %q", ErrChartInvalid, s, c.Name(), c.Version())
	}
	return nil
}
