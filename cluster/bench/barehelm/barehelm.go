// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package barehelm is Helm as its users run it, without the provider, which the
// benchmarks compare the provider with.
package barehelm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/registry"
)

// Helm installs one chart, which was downloaded beforehand, as the provider's is.
type Helm struct {
	chart      []byte
	kubeconfig string
}

// New installs the chart, given as an archive, on the cluster of the kubeconfig. Without
// one, the environment says which.
func New(chart []byte, kubeconfig string) *Helm { return &Helm{chart: chart, kubeconfig: kubeconfig} }

// Pull downloads a chart from an OCI registry that speaks plain HTTP.
func Pull(repository, version string) ([]byte, error) {
	c, err := registry.NewClient(registry.ClientOptPlainHTTP(), registry.ClientOptWriter(io.Discard))
	if err != nil {
		return nil, fmt.Errorf("cannot make a registry client: %w", err)
	}

	ref := strings.TrimPrefix(repository, registry.OCIScheme+"://") + ":" + version

	pulled, err := c.Pull(ref)
	if err != nil {
		return nil, fmt.Errorf("cannot pull chart %q: %w", ref, err)
	}

	return pulled.Chart.Data, nil
}

func (h *Helm) configuration(namespace string) (*action.Configuration, error) {
	settings := cli.New()
	settings.SetNamespace(namespace)

	if h.kubeconfig != "" {
		settings.KubeConfig = h.kubeconfig
	}

	cfg := &action.Configuration{}
	if err := cfg.Init(settings.RESTClientGetter(), namespace, "secret", func(string, ...any) {}); err != nil {
		return nil, fmt.Errorf("cannot set Helm up: %w", err)
	}

	return cfg, nil
}

// Installer loads the chart, for installs one after the other.
func (h *Helm) Installer() (*Installer, error) {
	c, err := loader.LoadArchive(bytes.NewReader(h.chart))
	if err != nil {
		return nil, fmt.Errorf("cannot load the chart: %w", err)
	}

	return &Installer{helm: h, chart: c}, nil
}

// Installer installs one chart again and again, as one worker of a loop over Helm's SDK
// does. Helm may change the chart while it installs it, and does not promise that several
// installs can share it. One without dependencies, such as vCluster's, is as before when
// the install has ended.
type Installer struct {
	helm  *Helm
	chart *chart.Chart
}

// Install a release, by clients of its own, whose discovery and validation are as Helm
// has them. Its namespace is made.
func (i *Installer) Install(ctx context.Context, namespace, release string, values map[string]any) error {
	cfg, err := i.helm.configuration(namespace)
	if err != nil {
		return err
	}

	a := action.NewInstall(cfg)
	a.ReleaseName, a.Namespace, a.CreateNamespace = release, namespace, true

	if _, err := a.RunWithContext(ctx, i.chart, values); err != nil {
		return fmt.Errorf("cannot install release %q: %w", release, err)
	}

	return nil
}

// Values are those that the release was installed with.
func (h *Helm) Values(namespace, release string) (map[string]any, error) {
	cfg, err := h.configuration(namespace)
	if err != nil {
		return nil, err
	}

	v, err := action.NewGetValues(cfg).Run(release)
	if err != nil {
		return nil, fmt.Errorf("cannot read the values of release %q: %w", release, err)
	}

	return v, nil
}

// Uninstall removes the release. One that is gone is a success.
func (h *Helm) Uninstall(namespace, release string) error {
	cfg, err := h.configuration(namespace)
	if err != nil {
		return err
	}

	a := action.NewUninstall(cfg)
	a.IgnoreNotFound = true

	if _, err := a.Run(release); err != nil {
		return fmt.Errorf("cannot uninstall release %q: %w", release, err)
	}

	return nil
}

// Renamed are the values with other names in them, given as old, new, old, new.
func Renamed(values map[string]any, names ...string) (map[string]any, error) {
	raw, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("cannot copy values: %w", err)
	}

	var out map[string]any
	if err := json.Unmarshal([]byte(strings.NewReplacer(names...).Replace(string(raw))), &out); err != nil {
		return nil, fmt.Errorf("cannot copy values: %w", err)
	}

	return out, nil
}
