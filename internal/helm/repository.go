// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"helm.sh/helm/v3/pkg/repo"
	"oras.land/oras-go/v2/registry/remote/auth"
	"sigs.k8s.io/yaml"
)

// maxIndexBytes bounds the index of a chart repository.
const maxIndexBytes = 32 << 20

// fetchHTTP downloads from a chart repository: its index says where the archive
// of a version is.
func (s *source) fetchHTTP(ctx context.Context, hc *http.Client) ([]byte, error) {
	base := *s.url
	base.Path = strings.TrimSuffix(base.Path, "/"+s.name) + "/"
	raw, err := s.download(ctx, hc, base.JoinPath("index.yaml"), maxIndexBytes)
	if err != nil {
		return nil, err
	}
	var index repo.IndexFile
	if err := yaml.Unmarshal(raw, &index); err != nil {
		return nil, fmt.Errorf("%w: the index of its repository is not YAML: %w", ErrChartInvalid, err)
	}

	for _, v := range index.Entries[s.name] {
		if v == nil || v.Metadata == nil || v.Version != s.Version || len(v.URLs) == 0 {
			continue
		}
		u, err := base.Parse(v.URLs[0])
		if err != nil || (u.Scheme != "https" && u.Scheme != "http") {
			return nil, fmt.Errorf("%w: the index of its repository gives the unusable address %q", ErrChartInvalid, v.URLs[0])
		}
		archive, err := s.download(ctx, hc, u, maxChartBytes)
		if err != nil {
			return nil, err
		}
		if want := strings.TrimPrefix(v.Digest, "sha256:"); want != "" && digest(archive) != "sha256:"+want {
			return nil, fmt.Errorf("%w: its digest is %s, the index of its repository says sha256:%s", ErrChartInvalid, digest(archive), want)
		}
		return archive, nil
	}
	return nil, errNoSuchChart
}

// errNoSuchChart is what a registry says by 404.
var errNoSuchChart = errors.New("no such chart or version")

// statusError is an answer other than 200.
type statusError struct {
	code int
	url  string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s answered %d %s", e.url, e.code, http.StatusText(e.code))
}

func (s *source) download(ctx context.Context, hc *http.Client, u *url.URL, limit int64) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", providerName)
	// The index may point anywhere; the credentials are for one host.
	if s.cred != auth.EmptyCredential && u.Host == s.url.Host && u.Scheme == s.url.Scheme {
		req.SetBasicAuth(s.cred.Username, s.cred.Password)
	}
	resp, err := hc.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, &statusError{code: resp.StatusCode, url: u.Redacted()}
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) > limit {
		return nil, fmt.Errorf("%w: %s is larger than the limit of %s", ErrChartInvalid, u.Redacted(), kib(int(limit)))
	}
	return raw, nil
}
