// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package content fills a folder of the cache with all that the cluster's
// registry serves: the images and the charts.
package content

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/chart"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/images"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/program"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/registry"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/step"
)

const (
	// ChartRepository is the repository of the vCluster chart in the registry.
	ChartRepository = "loft-sh/charts/vcluster"
	// FluxChartRepository is the repository of the Flux chart in the registry.
	FluxChartRepository = "fluxcd-community/charts/flux2"
)

// format changes when the same inputs are to give another content.
const format = "1"

// A Set is the content made of one set of inputs.
type Set struct {
	inputs images.Inputs
	folder string
}

// New returns the Set for the built programs and the busybox executable. It
// does not make it yet.
func New(ctx context.Context, cache string, programs map[string]string, busybox string) (*Set, error) {
	applets, err := images.Applets(ctx, busybox)
	if err != nil {
		return nil, err
	}
	in := images.Inputs{Programs: programs, Busybox: busybox, Applets: applets}
	key, err := key(in)
	if err != nil {
		return nil, err
	}
	return &Set{inputs: in, folder: filepath.Join(cache, "content", key)}, nil
}

// key depends on the programs' paths in the cache, which hold their own keys,
// on busybox itself and on what the images and charts are to be.
func key(in images.Inputs) (string, error) {
	busybox, err := os.ReadFile(in.Busybox)
	if err != nil {
		return "", fmt.Errorf("cannot read busybox: %w", err)
	}
	catalogue, err := json.Marshal(images.Catalogue())
	if err != nil {
		return "", fmt.Errorf("cannot encode catalogue: %w", err)
	}
	flux, err := chart.FluxDigest()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %x %s %s\n", format, catalogue, sha256.Sum256(busybox), program.VClusterVersion, flux)
	for _, n := range slices.Sorted(maps.Keys(in.Programs)) {
		fmt.Fprintf(h, "%s %s\n", n, filepath.Base(filepath.Dir(in.Programs[n])))
	}
	return hex.EncodeToString(h.Sum(nil))[:12], nil
}

// Folder is what the registry serves once the Set is made.
func (s *Set) Folder() string { return s.folder }

// Made says whether the Set lies in the cache.
func (s *Set) Made() (bool, error) {
	_, err := os.Stat(s.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Make makes the Set unless the cache has it. The caller holds the cache's lock.
func (s *Set) Make(ctx context.Context, b *program.Builder, out *step.Log) error {
	made, err := s.Made()
	if err != nil || made {
		return err
	}
	temp := s.folder + ".part"
	if err := os.RemoveAll(temp); err != nil {
		return fmt.Errorf("cannot clear interrupted content: %w", err)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	h, err := registry.New(log.New(io.Discard, "", 0), temp)
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	go func() { _ = registry.Serve(serving, l, h) }()

	host := l.Addr().String()
	if err := out.Do("pack images", func() error { return s.pushImages(ctx, host) }); err != nil {
		return err
	}
	if err := out.Do("pack charts", func() error { return pushCharts(ctx, b, host) }); err != nil {
		return err
	}
	if err := os.Rename(temp, s.folder); err != nil {
		return fmt.Errorf("cannot put content into the cache: %w", err)
	}
	return nil
}

func (s *Set) pushImages(ctx context.Context, host string) error {
	for _, img := range images.Catalogue() {
		built, err := images.Build(img, s.inputs)
		if err != nil {
			return err
		}
		for _, n := range img.Names {
			ref, err := name.ParseReference(host + "/" + Path(n))
			if err != nil {
				return fmt.Errorf("cannot parse image name %q: %w", n, err)
			}
			if err := remote.Write(ref, built, remote.WithContext(ctx)); err != nil {
				return fmt.Errorf("cannot store image %q: %w", n, err)
			}
		}
	}
	return nil
}

func pushCharts(ctx context.Context, b *program.Builder, host string) error {
	temp, err := os.MkdirTemp("", "charts-")
	if err != nil {
		return fmt.Errorf("cannot make folder for charts: %w", err)
	}
	defer func() { _ = os.RemoveAll(temp) }()
	vcluster, err := b.ModuleDir(ctx, "vcluster", program.VClusterModule)
	if err != nil {
		return err
	}
	file, err := chart.Pack(filepath.Join(vcluster, "chart"), program.VClusterVersion, temp)
	if err != nil {
		return err
	}
	if err := chart.Push(file, host+"/"+vclusterChart); err != nil {
		return err
	}
	controllers := map[string]string{}
	for name, module := range map[string]string{"source-controller": program.SourceController, "kustomize-controller": program.KustomizeController} {
		if controllers[name], err = b.ModuleDir(ctx, name, module); err != nil {
			return err
		}
	}
	if file, err = chart.PackFlux(controllers, temp); err != nil {
		return err
	}
	return chart.Push(file, host+"/"+fluxChart)
}

// The charts, as REPOSITORY:TAG.
const (
	vclusterChart = ChartRepository + ":" + program.VClusterVersion
	fluxChart     = FluxChartRepository + ":" + chart.FluxVersion
)

// Path is an image's name without its host: the node's registry stands in for
// every other one.
func Path(image string) string {
	_, path, _ := strings.Cut(image, "/")
	return path
}

// References lists all that the registry must answer for, as REPOSITORY:TAG.
func References() []string {
	var out []string
	for _, img := range images.Catalogue() {
		for _, n := range img.Names {
			out = append(out, Path(n))
		}
	}
	return append(out, vclusterChart, fluxChart)
}
