// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"helm.sh/helm/v3/pkg/chart/loader"
	helmregistry "helm.sh/helm/v3/pkg/registry"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/registry"
)

func chartFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"Chart.yaml":           "apiVersion: v2\nname: thing\nversion: 0.0.1\n",
		"templates/thing.yaml": "kind: Thing\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestPackAndPush(t *testing.T) {
	t.Parallel()
	file, err := Pack(chartFolder(t), "1.2.3", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h, err := registry.New(log.New(io.Discard, "", 0), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	ref := strings.TrimPrefix(s.URL, "http://") + "/charts/thing:1.2.3"
	if err := Push(file, ref); err != nil {
		t.Fatal(err)
	}

	client, err := helmregistry.NewClient(helmregistry.ClientOptPlainHTTP(), helmregistry.ClientOptWriter(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Pull(ref)
	if err != nil {
		t.Fatal(err)
	}
	c, err := loader.LoadArchive(strings.NewReader(string(got.Chart.Data)))
	if err != nil {
		t.Fatal(err)
	}
	if c.Metadata.Version != "1.2.3" || c.Metadata.AppVersion != "1.2.3" || len(c.Templates) != 1 {
		t.Errorf("chart is %s %s with %d templates", c.Metadata.Version, c.Metadata.AppVersion, len(c.Templates))
	}
}

func TestPull(t *testing.T) {
	t.Parallel()
	file, err := Pack(chartFolder(t), "1.2.3", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h, err := registry.New(log.New(io.Discard, "", 0), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	host := strings.TrimPrefix(s.URL, "http://")
	if err := Push(file, host+"/charts/thing:1.2.3"); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Pull(t.Context(), host+"/charts/thing:1.2.3", s.Client().Transport)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("Pull(...) = %d bytes, %v, want the %d that were pushed", len(got), err, len(want))
	}
	if _, err := Pull(t.Context(), host+"/charts/thing:2.0.0", s.Client().Transport); err == nil || !strings.Contains(err.Error(), "thing:2.0.0") {
		t.Errorf("Pull(...) of what is not there = %v, want an error that names it", err)
	}

	img, err := random.Image(10, 1)
	if err != nil {
		t.Fatal(err)
	}
	ref, err := name.ParseReference(host + "/image:1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, img); err != nil {
		t.Fatal(err)
	}
	if _, err := Pull(t.Context(), host+"/image:1", s.Client().Transport); err == nil || !strings.Contains(err.Error(), "no layer of type") {
		t.Errorf("Pull(...) of an image = %v, want that it is no chart", err)
	}
}

func TestPackWithoutChart(t *testing.T) {
	t.Parallel()
	if _, err := Pack(t.TempDir(), "1.2.3", t.TempDir()); err == nil {
		t.Error("an empty folder is packed as a chart")
	}
}
