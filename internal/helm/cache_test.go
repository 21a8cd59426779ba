// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"helm.sh/helm/v3/pkg/chart"
)

func newCache(t *testing.T) *ChartCache {
	t.Helper()
	c, err := NewChartCache(filepath.Join(t.TempDir(), "charts"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// cached returns the files of charts in the cache.
func cached(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Not parallel: it reads the counter of the process.
func TestC1GetDownloadsOnce(t *testing.T) {
	r := newRegistry(t, false)
	r.push(t, helmChart("app", "1.0.0"))
	c := newCache(t)
	before := testutil.ToFloat64(downloads.WithLabelValues(resultSuccess))

	var wg sync.WaitGroup
	start := make(chan struct{})
	got := make([]*Chart, 100)
	errs := make([]error, 100)
	for i := range got {
		wg.Go(func() {
			<-start
			got[i], errs[i] = c.Get(t.Context(), r.ref("app", "1.0.0"))
		})
	}
	close(start)
	wg.Wait()

	for i := range got {
		if errs[i] != nil || got[i] != got[0] {
			t.Fatalf("caller %d got %p, %v", i, got[i], errs[i])
		}
	}
	if n := r.blobs.Load(); n != 1 {
		t.Errorf("the registry served %d blobs, want 1", n)
	}
	if n := testutil.ToFloat64(downloads.WithLabelValues(resultSuccess)) - before; n != 1 {
		t.Errorf("the counter says %v downloads, want 1", n)
	}

	// A restart finds the file.
	again, err := NewChartCache(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Get(t.Context(), r.ref("app", "1.0.0")); err != nil {
		t.Fatal(err)
	}
	if n := r.blobs.Load(); n != 1 {
		t.Errorf("after a restart the registry served %d blobs, want still 1", n)
	}
}

func TestC1GetHealsDamage(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		damage func(raw []byte) []byte
	}{
		"Empty":     {reason: "an empty file", damage: func([]byte) []byte { return nil }},
		"Truncated": {reason: "half a file", damage: func(b []byte) []byte { return b[:len(b)/2] }},
		"Flipped":   {reason: "one flipped bit", damage: func(b []byte) []byte { b[len(b)-20] ^= 1; return b }},
		"Replaced": {reason: "a chart of the same name that the digest is not of", damage: func(b []byte) []byte {
			sum, _, _ := bytes.Cut(b, []byte("\n"))
			a := archive(t, helmChart("app", "1.0.0", withDefaults(map[string]any{"evil": true})))
			return append(append(sum, '\n'), a...)
		}},
		"OtherChart": {reason: "another chart with a good digest", damage: func([]byte) []byte {
			a := archive(t, helmChart("other", "1.0.0"))
			return append([]byte(digest(a)+"\n"), a...)
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRegistry(t, false)
			r.push(t, helmChart("app", "1.0.0"))
			c := newCache(t)
			if _, err := c.Get(t.Context(), r.ref("app", "1.0.0")); err != nil {
				t.Fatal(err)
			}
			files := cached(t, c.dir)
			if len(files) != 1 {
				t.Fatalf("want one file in the cache, got %v", files)
			}
			raw, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(files[0], tc.damage(raw), 0o600); err != nil {
				t.Fatal(err)
			}

			for range 2 { // healed the first time, found the second
				restarted, err := NewChartCache(c.dir)
				if err != nil {
					t.Fatal(err)
				}
				ch, err := restarted.Get(t.Context(), r.ref("app", "1.0.0"))
				if err != nil || ch.Name() != "app" {
					t.Fatalf("%s: got %v, %v", tc.reason, ch, err)
				}
			}
			if n := r.blobs.Load(); n != 2 {
				t.Errorf("%s: the registry served %d blobs, want 2", tc.reason, n)
			}
		})
	}
}

func TestC1GetForgetsFailure(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, false)
	c := newCache(t)
	if _, err := c.Get(t.Context(), r.ref("app", "1.0.0")); !errors.Is(err, ErrChartNotFound) {
		t.Fatalf("want not found, got %v", err)
	}
	if files := cached(t, c.dir); len(files) != 0 {
		t.Errorf("a failure left %v", files)
	}
	r.push(t, helmChart("app", "1.0.0"))
	if _, err := c.Get(t.Context(), r.ref("app", "1.0.0")); err != nil {
		t.Errorf("published since, but got %v", err)
	}
}

func TestGetOutlivesFirstCaller(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, false)
	r.push(t, helmChart("app", "1.0.0"))
	arrived, proceed := make(chan struct{}), make(chan struct{})
	var once sync.Once
	r.before = func(http.ResponseWriter, *http.Request) bool {
		once.Do(func() { close(arrived) })
		<-proceed
		return true
	}
	c := newCache(t)

	first, cancel := context.WithCancel(t.Context())
	firstErr := make(chan error, 1)
	go func() {
		_, err := c.Get(first, r.ref("app", "1.0.0"))
		firstErr <- err
	}()
	<-arrived
	secondErr := make(chan error, 1)
	go func() {
		_, err := c.Get(t.Context(), r.ref("app", "1.0.0"))
		secondErr <- err
	}()

	cancel()
	err := <-firstErr
	if want := fmt.Sprintf("chart %q is still being downloaded", r.ref("app", "1.0.0")); !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("the first caller should end with its context and %q, got %v", want, err)
	}
	close(proceed)
	if err := <-secondErr; err != nil {
		t.Errorf("the second caller should get the chart, got %v", err)
	}
	if n := r.blobs.Load(); n != 1 {
		t.Errorf("the registry served %d blobs, want 1", n)
	}
}

func TestGetIsolatesCredentials(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, false, authenticated)
	r.push(t, helmChart("app", "1.0.0"))
	c := newCache(t)

	mine := r.ref("app", "1.0.0")
	mine.Credentials = Credentials{DockerConfigJSON: dockerConfig(r.host(), testPassword)}
	if _, err := c.Get(t.Context(), mine); err != nil {
		t.Fatal(err)
	}

	others := map[string]Credentials{
		"none":          {},
		"wrong":         {DockerConfigJSON: dockerConfig(r.host(), "guess")},
		"for elsewhere": {DockerConfigJSON: dockerConfig("elsewhere.example.com", testPassword)},
	}
	for name, cred := range others {
		theirs := r.ref("app", "1.0.0")
		theirs.Credentials = cred
		if _, err := c.Get(t.Context(), theirs); !errors.Is(err, ErrRegistryUnauthorized) {
			t.Errorf("credentials %q must not open the cache, got %v", name, err)
		}
	}

	// The same credential in another shape is the same.
	mine.Credentials.DockerConfigJSON = fmt.Appendf(nil, `{"auths": {%q: {"username": %q, "password": %q}}}`, r.host(), testUser, testPassword)
	if _, err := c.Get(t.Context(), mine); err != nil {
		t.Fatal(err)
	}
	if n := r.blobs.Load(); n != 1 {
		t.Errorf("the registry served %d blobs, want 1", n)
	}
	for _, f := range cached(t, c.dir) {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", f, info.Mode(), err)
		}
	}
}

func TestGetRefusesChart(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		chart  *chart.Chart
		says   string
	}{
		"Name":    {reason: "the name must be the one asked for", chart: helmChart("other", "1.0.0"), says: `"other"`},
		"Version": {reason: "the version must be the one asked for", chart: helmChart("app", "2.0.0"), says: `"2.0.0"`},
		"TooLarge": {reason: "a chart has a largest size", says: "10240 KiB", chart: helmChart("app", "1.0.0", func(c *chart.Chart) {
			for i := range 3 { // what does not compress
				b := make([]byte, 4<<20)
				rnd := rand.NewChaCha8([32]byte{byte(i)})
				_, _ = rnd.Read(b)
				c.Files = append(c.Files, &chart.File{Name: fmt.Sprintf("f%d", i), Data: b})
			}
		})},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRegistry(t, false)
			r.push(t, tc.chart)
			// Serve it under the name and version that are asked for.
			r.before = func(_ http.ResponseWriter, req *http.Request) bool {
				req.URL.Path = strings.Replace(req.URL.Path, "/charts/app/", "/charts/"+tc.chart.Name()+"/", 1)
				req.URL.Path = strings.Replace(req.URL.Path, "/manifests/1.0.0", "/manifests/"+tc.chart.Metadata.Version, 1)
				return true
			}
			c := newCache(t)
			_, err := c.Get(t.Context(), r.ref("app", "1.0.0"))
			if !errors.Is(err, ErrChartInvalid) || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: got %v", tc.reason, err)
			}
			if files := cached(t, c.dir); len(files) != 0 {
				t.Errorf("%s: it was kept: %v", tc.reason, files)
			}
		})
	}
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	c := newCache(t)
	a := archive(t, helmChart("app", "1.0.0"))
	for i := range maxFiles + 5 {
		if err := c.write(fmt.Sprintf("%03d", i), a); err != nil {
			t.Fatal(err)
		}
	}
	c.prune()
	if n := len(cached(t, c.dir)); n != maxFiles {
		t.Errorf("%d charts are kept, want %d", n, maxFiles)
	}
}

func TestNewChartCache(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	if _, err := NewChartCache(dir); err != nil {
		t.Fatalf("a missing folder should be created, got %v", err)
	}
	// An interrupted download of an earlier run.
	if err := os.WriteFile(filepath.Join(dir, tempPrefix+"123"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewChartCache(dir); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("leftovers were kept: %v, %v", left, err)
	}

	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewChartCache(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file is no folder: got %v", err)
	}
}

func TestGetWithoutDisk(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, false)
	r.push(t, helmChart("app", "1.0.0"))
	c := newCache(t)
	if err := os.RemoveAll(c.dir); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Get(t.Context(), r.ref("app", "1.0.0")); err != nil {
			t.Fatalf("a cache that cannot be written must not cost the chart: %v", err)
		}
	}
	if n := r.blobs.Load(); n != 1 {
		t.Errorf("the registry served %d blobs, want 1: it is kept in memory", n)
	}
}

func TestGetAfterContext(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ref := r.ref("app", "1.0.0")
	if _, err := newCache(t).Get(ctx, ref); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), ref.String()) {
		t.Errorf("an error of the context names the chart, got %v", err)
	}
}
