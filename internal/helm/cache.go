// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// maxChartBytes is how large a packed chart may be.
	maxChartBytes = 10 << 20

	// downloadTimeout bounds one download, whoever waits for it.
	downloadTimeout = 2 * time.Minute

	// maxParsed and maxFiles are how many charts are kept in memory and on disk.
	maxParsed = 8
	maxFiles  = 64

	fileSuffix = ".chart"
	tempPrefix = ".partial-"
)

// ChartCache fetches charts, each version once: the first of any number of
// concurrent callers starts the download and all share it. Charts are kept in a
// folder, which survives a restart, and the last used ones in memory. Failures
// are not remembered. It is safe for concurrent use.
type ChartCache struct {
	dir     string
	parsed  *lru.Cache
	flights singleflight.Group
}

// NewChartCache returns a cache in dir, which it creates if need be. One process
// may use a folder at a time.
func NewChartCache(dir string) (*ChartCache, error) {
	// Private charts of several customers lie here.
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create chart cache folder %q: %w", dir, err)
	}
	f, err := os.CreateTemp(dir, tempPrefix)
	if err != nil {
		return nil, fmt.Errorf("cannot write to chart cache folder %q: %w", dir, err)
	}
	_ = f.Close()

	leftovers, err := filepath.Glob(filepath.Join(dir, tempPrefix+"*"))
	if err != nil {
		return nil, fmt.Errorf("cannot list chart cache folder %q: %w", dir, err)
	}
	for _, l := range leftovers {
		_ = os.Remove(l)
	}
	return &ChartCache{dir: dir, parsed: lru.New(maxParsed)}, nil
}

// Get returns the chart that ref names. When ctx ends it returns an error that
// wraps that of ctx; the download goes on for the others that wait, and into the
// cache. Other errors: ErrChartNotFound, ErrChartInvalid, ErrRegistryUnreachable,
// ErrRegistryUnauthorized, or one that names the field of ref that cannot be used.
func (c *ChartCache) Get(ctx context.Context, ref ChartRef) (*Chart, error) {
	s, err := ref.resolve(ctx)
	if err != nil {
		return nil, err
	}
	key := s.key()
	if ch := c.remembered(key); ch != nil {
		return ch, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("cannot fetch chart %q: %w", s, err)
	}
	goesOn := fmt.Sprintf("chart %q is still being downloaded", s)
	return share(ctx, &c.flights, key, downloadTimeout, goesOn, func(ctx context.Context) (*Chart, error) {
		// Another flight may have landed since.
		if ch := c.remembered(key); ch != nil {
			return ch, nil
		}
		ch, err := c.read(key, s)
		if err != nil {
			ch, err = c.download(ctx, key, s)
		}
		if err != nil {
			return nil, err
		}
		c.parsed.Add(key, ch)
		return ch, nil
	})
}

// remembered returns the chart if it is in memory, or nil.
func (c *ChartCache) remembered(key string) *Chart {
	v, _ := c.parsed.Get(key)
	ch, _ := v.(*Chart)
	return ch
}

func (c *ChartCache) download(ctx context.Context, key string, s *source) (*Chart, error) {
	archive, err := s.fetch(ctx)
	countDownload(err)
	if err != nil {
		return nil, err
	}
	ch, err := LoadChart(archive)
	if err != nil {
		return nil, fmt.Errorf("chart %q: %w", s, err)
	}
	if err := s.accept(ch); err != nil {
		return nil, err
	}
	// A full disk costs a download later, not the chart now.
	if err := c.write(key, archive); err != nil {
		log.FromContext(ctx).Error(err, "Cannot store a chart in the cache", "chart", s.String(), "folder", c.dir)
	}
	c.prune()
	return ch, nil
}

func (c *ChartCache) path(key string) string { return filepath.Join(c.dir, key+fileSuffix) }

// read returns the chart in a file whose first line is the digest of the rest.
// Any error means that the chart has to be downloaded.
func (c *ChartCache) read(key string, s *source) (*Chart, error) {
	raw, err := os.ReadFile(c.path(key))
	if err != nil {
		return nil, err
	}
	sum, archive, _ := bytes.Cut(raw, []byte("\n"))
	if string(sum) != digest(archive) {
		return nil, fmt.Errorf("cached chart %q is damaged", s)
	}
	ch, err := LoadChart(archive)
	if err != nil {
		return nil, err
	}
	if err := s.accept(ch); err != nil {
		return nil, err
	}
	now := time.Now()
	_ = os.Chtimes(c.path(key), now, now) // for prune
	return ch, nil
}

// write makes the file appear whole or not at all.
func (c *ChartCache) write(key string, archive []byte) error {
	f, err := os.CreateTemp(c.dir, tempPrefix)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.Write(append([]byte(digest(archive)+"\n"), archive...))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), c.path(key))
}

// prune removes the charts that were not used for longest.
func (c *ChartCache) prune() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	type file struct {
		name string
		used time.Time
	}
	var files []file
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasSuffix(e.Name(), fileSuffix) {
			continue
		}
		files = append(files, file{e.Name(), info.ModTime()})
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(b.used.Compare(a.used), strings.Compare(a.name, b.name)) })
	for i := maxFiles; i < len(files); i++ {
		_ = os.Remove(filepath.Join(c.dir, files[i].name))
	}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
