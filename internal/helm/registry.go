// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"helm.sh/helm/v3/pkg/registry"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
)

const (
	// maxManifestBytes bounds the OCI manifest of a chart.
	maxManifestBytes = 1 << 20

	// connectTimeout bounds the steps to an answer, not the transfer.
	connectTimeout = 8 * time.Second
	// maxRedirects are followed for one request.
	maxRedirects = 10
)

// fetch downloads the packed chart.
func (s *source) fetch(ctx context.Context) ([]byte, error) {
	hc, err := s.httpClient()
	if err != nil {
		return nil, err
	}
	defer hc.CloseIdleConnections()

	archive, err := func() ([]byte, error) {
		if s.url.Scheme == "oci" {
			return s.fetchOCI(ctx, hc)
		}
		return s.fetchHTTP(ctx, hc)
	}()
	if err != nil {
		return nil, s.classify(err)
	}
	return archive, nil
}

func (s *source) fetchOCI(ctx context.Context, hc *http.Client) ([]byte, error) {
	repo, err := remote.NewRepository(s.url.Host + s.url.Path)
	if err != nil {
		return nil, fmt.Errorf("chart repository %q cannot be used: %w", s.Repository, err)
	}
	repo.PlainHTTP = s.PlainHTTP
	client := &auth.Client{Client: hc, Cache: auth.NewCache(), Credential: auth.StaticCredential(s.url.Host, s.cred)}
	client.SetUserAgent(providerName)
	repo.Client = client

	// A tag cannot hold the + of build metadata; by convention it is a _.
	desc, err := repo.Resolve(ctx, strings.ReplaceAll(s.Version, "+", "_"))
	if err != nil {
		return nil, err
	}
	if desc.Size > maxManifestBytes {
		return nil, fmt.Errorf("%w: its manifest is %s, the limit is %s", ErrChartInvalid, kib(int(desc.Size)), kib(maxManifestBytes))
	}
	raw, err := content.FetchAll(ctx, repo, desc)
	if err != nil {
		return nil, err
	}
	var m ocispec.Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("%w: its manifest is not JSON: %w", ErrChartInvalid, err)
	}
	i := slices.IndexFunc(m.Layers, func(l ocispec.Descriptor) bool {
		return l.MediaType == registry.ChartLayerMediaType || l.MediaType == registry.LegacyChartLayerMediaType
	})
	if i < 0 {
		return nil, fmt.Errorf("%w: it has no layer of type %s, so it is not a Helm chart", ErrChartInvalid, registry.ChartLayerMediaType)
	}
	if m.Layers[i].Size > maxChartBytes {
		return nil, tooLarge(m.Layers[i].Size)
	}
	return content.FetchAll(ctx, repo, m.Layers[i])
}

func tooLarge(n int64) error {
	return fmt.Errorf("%w: it is %s, the limit is %s", ErrChartInvalid, kib(int(n)), kib(maxChartBytes))
}

// httpClient trusts the CA bundle too. It is made for one download: charts are
// fetched once, and idle connections to a registry are of no use.
func (s *source) httpClient() (*http.Client, error) {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("cannot make an HTTP client: the default transport was replaced")
	}
	t = t.Clone()
	t.DialContext = (&net.Dialer{Timeout: connectTimeout}).DialContext
	t.TLSHandshakeTimeout = connectTimeout
	t.ResponseHeaderTimeout = connectTimeout
	t.TLSClientConfig = &tls.Config{RootCAs: s.roots, MinVersion: tls.VersionTLS12}
	return &http.Client{Transport: t, CheckRedirect: limitRedirects}, nil
}

// limitRedirects is what net/http does by itself, unless someone such as the registry's
// library has a rule of its own for redirects.
func limitRedirects(_ *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return fmt.Errorf("stopped after %d redirects", maxRedirects)
	}
	return nil
}
