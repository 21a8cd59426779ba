// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// oneChart serves every supported version but 0.36.9, with a schema that refuses
// the value "refused".
func oneChart(_ context.Context, version string) (*helm.Chart, error) {
	if version == "0.36.9" {
		return nil, fmt.Errorf("%w: no version %q", helm.ErrChartNotFound, version)
	}

	return loadChart("vcluster", version)
}

// oneFluxChart serves every version of flux2 but 2.18.9.
func oneFluxChart(_ context.Context, version string) (*helm.Chart, error) {
	if version == "2.18.9" {
		return nil, fmt.Errorf("%w: no version %q", helm.ErrChartNotFound, version)
	}

	return loadChart("flux2", version)
}

func loadChart(name, version string) (*helm.Chart, error) {
	raw, err := packChart(name, version, nil)
	if err != nil {
		return nil, err
	}

	return helm.LoadChart(raw)
}

// packChart packs a chart with these files besides the usual ones.
func packChart(name, version string, files map[string]string) ([]byte, error) {
	var buf bytes.Buffer

	z := gzip.NewWriter(&buf)
	a := tar.NewWriter(z)

	all := map[string]string{
		"Chart.yaml":         "apiVersion: v2\nname: " + name + "\nversion: " + version + "\n",
		"values.schema.json": `{"type": "object", "properties": {"refused": {"type": "null"}}}`,
	}
	maps.Copy(all, files)

	for file, body := range all {
		if err := a.WriteHeader(&tar.Header{Name: name + "/" + file, Mode: 0o600, Size: int64(len(body))}); err != nil {
			return nil, err
		}

		if _, err := a.Write([]byte(body)); err != nil {
			return nil, err
		}
	}

	if err := errors.Join(a.Close(), z.Close()); err != nil {
		return nil, err
	}

	return buf.Bytes(), nil
}

// chartRepository serves one chart under /charts.
func chartRepository(t *testing.T, name, version string, files map[string]string) *httptest.Server {
	t.Helper()

	raw, err := packChart(name, version, files)
	if err != nil {
		t.Fatal(err)
	}

	index := fmt.Sprintf("apiVersion: v1\nentries:\n  %s:\n  - {apiVersion: v2, name: %s, version: %s, urls: [chart.tgz]}\n", name, name, version)
	answers := map[string][]byte{"/charts/index.yaml": []byte(index), "/charts/chart.tgz": raw}

	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := answers[r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}

		if _, err := w.Write(body); err != nil {
			t.Log(err)
		}
	}))
	t.Cleanup(s.Close)

	return s
}
