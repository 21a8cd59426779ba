// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

var (
	k8sVersion = regexp.MustCompile(`^v?1\.[0-9]{1,3}\.[0-9]{1,3}$`)
	k3sVersion = regexp.MustCompile(`^v?1\.[0-9]{1,3}\.[0-9]{1,3}([-+]k3s[0-9]{1,2})?$`)
)

// controllerManagerArgs lift the limit that the controller manager sets to its own requests. It makes some
// hundred when a cluster is new, and its default of 20 a second makes everything else wait for them.
func controllerManagerArgs() []any {
	return []any{"--kube-api-qps=200", "--kube-api-burst=400"}
}

// distroValues switch one distribution on, give its init container room and pin its version. Naming the
// distribution on every chart keeps a later change of the default from being taken for the same cluster.
func distroValues(version ChartVersion, s Spec) (map[string]any, error) {
	distro := s.Distro
	if distro == "" {
		distro = version.defaultDistro()
	}

	if !version.hasDistro(distro) {
		return nil, fmt.Errorf("cannot run distro %q on vCluster chart %s: k8s works on every chart, k3s on charts up to 0.%d; "+
			"set vcluster.distro or vcluster.chartVersion", distro, version, minorLastK3s)
	}

	block := map[string]any{
		"enabled":   true,
		"resources": map[string]any{"limits": map[string]any{"cpu": initCPULimit}},
	}
	if distro == v1alpha1.DistroK8s {
		block["controllerManager"] = map[string]any{"extraArgs": controllerManagerArgs()}
	}

	if s.KubernetesVersion != "" {
		if err := pinKubernetes(block, distro, s.KubernetesVersion); err != nil {
			return nil, err
		}
	}

	return map[string]any{string(distro): block}, nil
}

// pinKubernetes sets the version where the distribution has it: every chart's k8s takes a version, k3s
// has only the tag of its image.
func pinKubernetes(block map[string]any, distro v1alpha1.Distro, version string) error {
	tag := "v" + strings.TrimPrefix(version, "v")

	switch distro {
	case v1alpha1.DistroK8s:
		if !k8sVersion.MatchString(version) {
			return fmt.Errorf("cannot use %q as vcluster.kubernetesVersion: distro k8s needs a full version such as 1.31.4", version)
		}

		block["version"] = tag
	case v1alpha1.DistroK3s:
		if !k3sVersion.MatchString(version) {
			return fmt.Errorf("cannot use %q as vcluster.kubernetesVersion: distro k3s needs a full version "+
				"such as 1.31.4 or 1.31.4-k3s1", version)
		}

		tag = strings.ReplaceAll(tag, "+", "-")
		if !strings.Contains(tag, "-") {
			tag += "-k3s1"
		}

		block["image"] = map[string]any{"tag": tag}
	default:
		return fmt.Errorf("cannot set the Kubernetes version of unknown distro %q", distro)
	}

	return nil
}

// keepOwnArgs puts controllerManagerArgs before a list of arguments that came from an override, which
// replaces the provider's own list. A flag that the override sets itself stays as it is there.
func keepOwnArgs(values map[string]any) {
	manager, ok := at(values, "controlPlane", "distro", string(v1alpha1.DistroK8s), "controllerManager").(map[string]any)
	if !ok {
		return
	}

	args, ok := manager["extraArgs"].([]any)
	if !ok {
		return
	}

	own := slices.DeleteFunc(controllerManagerArgs(), func(arg any) bool {
		return slices.ContainsFunc(args, func(other any) bool { return flagOf(other) == flagOf(arg) })
	})
	manager["extraArgs"] = append(own, args...)
}

// flagOf is the flag of an argument, without its value.
func flagOf(arg any) string {
	flag, _, _ := strings.Cut(fmt.Sprint(arg), "=")

	return flag
}

// checkOneDistro finds an override that switches a second distribution on, which the chart refuses
// without naming the way out.
func checkOneDistro(values map[string]any) error {
	if on := enabledDistros(values); len(on) > 1 {
		return fmt.Errorf("cannot run the distros %s together: controlPlane.distro may enable one; "+
			"set vcluster.distro instead of overriding it", strings.Join(on, " and "))
	}

	return nil
}

// enabledDistros are the distributions that values switch on, by name. It knows those of every chart
// that a running release may have.
func enabledDistros(values map[string]any) []string {
	var on []string

	for _, distro := range []string{"k0s", string(v1alpha1.DistroK3s), string(v1alpha1.DistroK8s)} {
		if at(values, "controlPlane", "distro", distro, "enabled") == true {
			on = append(on, distro)
		}
	}

	return on
}
