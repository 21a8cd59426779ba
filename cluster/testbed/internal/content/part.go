// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package content

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/chart"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/images"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/program"
)

const (
	// ChartRepository is the repository of the vCluster chart in the registry.
	ChartRepository = "loft-sh/charts/vcluster"
	// FluxChartRepository is the repository of the Flux chart in the registry.
	FluxChartRepository = "fluxcd-community/charts/flux2"
	// CrossplaneChartRepository is the repository of the Crossplane chart in the
	// registry.
	CrossplaneChartRepository = "crossplane/charts/crossplane"
	// CrossplaneChart is that chart, as REPOSITORY:TAG.
	CrossplaneChart = CrossplaneChartRepository + ":" + program.CrossplaneVersion
)

// A Part is a part of what the registry serves. It is made and kept on its own.
type Part struct {
	name     string
	programs []program.Program
	images   []images.Image
	charts   []chartSource
	packages []packageSource
}

// A chartSource says how a chart is made.
type chartSource struct {
	// reference is where it is served, as REPOSITORY:TAG.
	reference string
	// pack makes the chart in the folder dest and returns its path.
	pack func(ctx context.Context, b *program.Builder, dest string) (string, error)
	// digest identifies what of the chart does not come from a program's module.
	digest func() (string, error)
}

// OfCluster is what every cluster needs.
func OfCluster() Part {
	return Part{
		name:     "the cluster",
		programs: program.OfCluster(),
		images:   images.OfCluster(),
		charts: []chartSource{
			moduleChart(ChartRepository, program.VClusterVersion, "vcluster", program.VClusterModule, "chart"),
			{reference: FluxChartRepository + ":" + chart.FluxVersion, pack: packFlux, digest: chart.FluxDigest},
		},
	}
}

// OfCrossplane is what a cluster with Crossplane needs besides.
func OfCrossplane() Part {
	return Part{
		name:     "Crossplane",
		programs: program.OfCrossplane(),
		images:   images.OfCrossplane(),
		charts: []chartSource{
			moduleChart(CrossplaneChartRepository, program.CrossplaneVersion, "crossplane", program.CrossplaneModule, "cluster/charts/crossplane"),
		},
		packages: packagesOfCrossplane,
	}
}

// Programs returns the programs that the part is made of.
func (p Part) Programs() []program.Program { return p.programs }

// Images returns the names of the part's images.
func (p Part) Images() []string {
	var out []string
	for _, img := range p.images {
		out = append(out, img.Names...)
	}
	return out
}

// References lists all of the part that the registry must answer for, as
// REPOSITORY:TAG.
func (p Part) References() []string {
	var out []string
	for _, n := range p.Images() {
		out = append(out, Path(n))
	}
	for _, c := range p.charts {
		out = append(out, c.reference)
	}
	for _, p := range p.packages {
		out = append(out, Path(p.name))
	}
	return out
}

// Path is an image's name without its host: the node's registry stands in for
// every other one.
func Path(image string) string {
	_, path, _ := strings.Cut(image, "/")
	return path
}

// moduleChart is a chart that lies in the folder of a Go module, which the
// program's definition requires.
func moduleChart(repository, version, definition, module, folder string) chartSource {
	return chartSource{
		reference: repository + ":" + version,
		digest:    func() (string, error) { return folder, nil },
		pack: func(ctx context.Context, b *program.Builder, dest string) (string, error) {
			dir, err := b.ModuleDir(ctx, definition, module)
			if err != nil {
				return "", err
			}
			return chart.Pack(filepath.Join(dir, folder), version, dest)
		},
	}
}

func packFlux(ctx context.Context, b *program.Builder, dest string) (string, error) {
	controllers := map[string]string{}
	for name, module := range map[string]string{"source-controller": program.SourceController, "kustomize-controller": program.KustomizeController} {
		dir, err := b.ModuleDir(ctx, name, module)
		if err != nil {
			return "", err
		}
		controllers[name] = dir
	}
	return chart.PackFlux(controllers, dest)
}
