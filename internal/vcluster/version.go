// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"errors"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// ErrUnsupportedChartVersion says that no values are known for a version of the vCluster chart.
var ErrUnsupportedChartVersion = errors.New("not supported")

// SupportedCharts is the range of supported chart versions, in words for messages.
const SupportedCharts = "0.20.0 to 0.36.x"

// Boundaries between chart versions, as minor versions of 0.x. The published schemas of 0.20.4, 0.21.2,
// 0.30.4, 0.33.4, 0.34.0 and 0.36.1 are known. Where a field appears between two known schemas, it counts
// as absent up to the newer one: a missing value costs seconds, an unknown one is refused by the chart.
const (
	// minorOldest is the first minor with the present layout of the values; 0.19 has another one.
	minorOldest = 20
	// minorNewest is the last minor whose schema is known.
	minorNewest = 36
	// minorProbeTimes is the first known schema in which probes take periodSeconds and failureThreshold:
	// 0.21.2 knows only their switch, 0.30.4 knows both.
	minorProbeTimes = 30
	// minorSnapshots to minorLastSnapshots are the minors whose charts let a vCluster make volume snapshots of the
	// whole host cluster unless told not to.
	minorSnapshots     = 30
	minorLastSnapshots = 35
	// minorLastK3s is the last minor that offers k3s: 0.30.4 has controlPlane.distro.k3s, 0.33.4 has not,
	// and 0.33 is the release that removed it.
	minorLastK3s = 32
)

// ChartVersion is a supported version of the vCluster chart. Only ParseChartVersion makes one.
type ChartVersion struct {
	version *semver.Version
}

// ParseChartVersion parses an exact version such as 0.21.2, with or without a leading v. What is no exact
// version, or lies outside of SupportedCharts, is an ErrUnsupportedChartVersion. A pre-release counts as
// the version that it leads to, except that 0.20's are older than the present layout of the values. The
// error does not say where the version came from.
func ParseChartVersion(s string) (ChartVersion, error) {
	v, err := semver.StrictNewVersion(strings.TrimPrefix(s, "v"))
	if err != nil {
		return ChartVersion{}, fmt.Errorf("chart version %q is %w: use an exact version such as 0.21.2, from %s",
			s, ErrUnsupportedChartVersion, SupportedCharts)
	}

	first := semver.New(0, minorOldest, 0, "", "")
	if v.LessThan(first) || v.Major() > 0 || v.Minor() > minorNewest {
		return ChartVersion{}, fmt.Errorf("chart version %q is %w: use %s", s, ErrUnsupportedChartVersion, SupportedCharts)
	}

	return ChartVersion{version: v}, nil
}

// String is the version as charts are tagged, without a leading v.
func (v ChartVersion) String() string {
	return v.version.String()
}

// defaultDistro is the distribution of a Tenant that names none: k3s as long as the chart offers it, then
// k8s.
func (v ChartVersion) defaultDistro() v1alpha1.Distro {
	if v.hasDistro(v1alpha1.DistroK3s) {
		return v1alpha1.DistroK3s
	}

	return v1alpha1.DistroK8s
}

// hasDistro says whether the chart offers a distribution.
func (v ChartVersion) hasDistro(d v1alpha1.Distro) bool {
	switch d {
	case v1alpha1.DistroK8s:
		return true
	case v1alpha1.DistroK3s:
		return v.version.Minor() <= minorLastK3s
	default:
		return false
	}
}

// hasProbeTimes says whether the chart's probes take a period and a threshold.
func (v ChartVersion) hasProbeTimes() bool {
	return v.version.Minor() >= minorProbeTimes
}

// grantsSnapshots says whether the chart makes a ClusterRole for volume snapshots by itself.
func (v ChartVersion) grantsSnapshots() bool {
	return v.version.Minor() >= minorSnapshots && v.version.Minor() <= minorLastSnapshots
}
