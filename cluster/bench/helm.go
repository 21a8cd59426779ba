// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/cli"
	"helm.sh/helm/v3/pkg/registry"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// bareHelm is Helm as its users run it, without the provider. Its chart is
// downloaded beforehand, as the provider's is.
type bareHelm struct{ chart []byte }

func newBareHelm() (*bareHelm, error) {
	c, err := registry.NewClient(registry.ClientOptPlainHTTP(), registry.ClientOptWriter(io.Discard))
	if err != nil {
		return nil, fmt.Errorf("cannot make a registry client: %w", err)
	}

	ref := strings.TrimPrefix(rig.ChartRepository, registry.OCIScheme+"://") + ":" + rig.ChartVersion

	pulled, err := c.Pull(ref)
	if err != nil {
		return nil, fmt.Errorf("cannot pull chart %q: %w", ref, err)
	}

	return &bareHelm{chart: pulled.Chart.Data}, nil
}

func configuration(namespace string) (*action.Configuration, error) {
	settings := cli.New()
	settings.SetNamespace(namespace)

	cfg := &action.Configuration{}
	if err := cfg.Init(settings.RESTClientGetter(), namespace, "secret", func(string, ...any) {}); err != nil {
		return nil, fmt.Errorf("cannot set Helm up: %w", err)
	}

	return cfg, nil
}

// prepare returns the install itself, with all that does not belong to it done.
func (h *bareHelm) prepare(namespace, release string, values map[string]any) (func(context.Context) error, error) {
	cfg, err := configuration(namespace)
	if err != nil {
		return nil, err
	}

	c, err := loader.LoadArchive(bytes.NewReader(h.chart))
	if err != nil {
		return nil, fmt.Errorf("cannot load the chart: %w", err)
	}

	a := action.NewInstall(cfg)
	a.ReleaseName, a.Namespace, a.CreateNamespace = release, namespace, true

	return func(ctx context.Context) error {
		if _, err := a.RunWithContext(ctx, c, values); err != nil {
			return fmt.Errorf("cannot install release %q: %w", release, err)
		}

		return nil
	}, nil
}

// values are those that the release was installed with.
func (h *bareHelm) values(namespace, release string) (map[string]any, error) {
	cfg, err := configuration(namespace)
	if err != nil {
		return nil, err
	}

	v, err := action.NewGetValues(cfg).Run(release)
	if err != nil {
		return nil, fmt.Errorf("cannot read the values of release %q: %w", release, err)
	}

	return v, nil
}

func (h *bareHelm) uninstall(namespace, release string) error {
	cfg, err := configuration(namespace)
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
