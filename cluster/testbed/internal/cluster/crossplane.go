// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/chart"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/content"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/netns"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/node"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/program"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

const (
	// crossplaneNamespace and crossplaneRelease are those of Crossplane's own
	// install guide.
	crossplaneNamespace = "crossplane-system"
	crossplaneRelease   = "crossplane"

	fillLimit = 120 * time.Second
	helmLimit = 60 * time.Second
)

// packagePrefixes maps what packages are called by everyone to where the node's
// registry has them.
var packagePrefixes = map[string]string{
	"ghcr.io/kubeopera":                     "kubeopera",
	"xpkg.crossplane.io/crossplane-contrib": "crossplane-contrib",
}

// crossplaneDeployments are what the chart starts.
var crossplaneDeployments = []string{"crossplane", "crossplane-rbac-manager"}

// crossplaneValues are laid over the chart's own. Without the activation policy
// that the chart makes for all kinds, a test sees whether its own policies do
// what they have to.
func crossplaneValues() map[string]any {
	return map[string]any{"provider": map[string]any{"defaultActivations": []any{}}}
}

// Crossplane installs Crossplane on the cluster, which must be up, from its own
// chart, and waits until it is available. It builds what is missing first. When
// Crossplane is there already, only what differs is changed.
func (c *Cluster) Crossplane(ctx context.Context) error {
	if err := c.mustBeUp(); err != nil {
		return err
	}
	_, set, err := c.make(ctx, content.OfCrossplane())
	if err != nil {
		return err
	}
	unlock, err := c.acquire(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	// It may have been taken down in the meantime.
	if err := c.mustBeUp(); err != nil {
		return err
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	if err := c.log.Do("fill registry", func() error { return c.fillRegistry(ctx, set) }); err != nil {
		return err
	}
	if err := c.log.Do("install chart of Crossplane "+program.CrossplaneVersion, func() error { return c.installCrossplane(ctx) }); err != nil {
		return err
	}
	for _, name := range crossplaneDeployments {
		if err := c.log.Do(name+" available", func() error { return awaitDeployment(ctx, client, name) }); err != nil {
			return err
		}
	}
	if err := c.log.Do("apply image configurations", func() error { return c.applyManifests(ctx, "crossplane/imageconfigs.yaml") }); err != nil {
		return err
	}
	c.log.Printf("Crossplane %s is available on cluster %q", program.CrossplaneVersion, c.name)
	return nil
}

// registryTransport reaches the node's registry from outside of its network
// namespace.
func (c *Cluster) registryTransport() http.RoundTripper {
	return &http.Transport{DialContext: netns.Dial(c.name)}
}

// fillRegistry pushes the set to the node's registry.
func (c *Cluster) fillRegistry(ctx context.Context, set *content.Set) error {
	ctx, cancel := context.WithTimeoutCause(ctx, fillLimit, fmt.Errorf("the registry was not full within %s: see 'logs registry'", fillLimit))
	defer cancel()
	if err := set.CopyTo(ctx, node.Registry, c.registryTransport()); err != nil {
		return reason(ctx, err)
	}
	return nil
}

// installCrossplane installs the chart that the node's registry serves, or
// upgrades what is there to it.
func (c *Cluster) installCrossplane(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, helmLimit, fmt.Errorf("the release was not written within %s: see 'logs kube-apiserver'", helmLimit))
	defer cancel()
	archive, err := chart.Pull(ctx, node.Registry+"/"+content.CrossplaneChart, c.registryTransport())
	if err != nil {
		return err
	}
	ch, err := helm.LoadChart(archive)
	if err != nil {
		return err
	}
	config, err := c.config()
	if err != nil {
		return err
	}
	host, err := helm.NewHost(config)
	if err != nil {
		return err
	}
	if err := c.applyManifests(ctx, "crossplane/namespace.yaml"); err != nil {
		return err
	}
	if err := installOrUpgrade(ctx, host.Client(crossplaneNamespace), crossplaneRelease, ch, crossplaneValues()); err != nil {
		return fmt.Errorf("%w; run 'crossplane' again, or begin anew by 'down' and 'up'", reason(ctx, err))
	}
	return nil
}

// installOrUpgrade makes the release one of this chart and these values. A revision that an
// interrupted run left pending is written over: the caller holds the cluster's
// lock, so that nobody else is at work on it.
func installOrUpgrade(ctx context.Context, client helm.Client, name string, ch *helm.Chart, values map[string]any) error {
	r, err := client.Get(ctx, name)
	if errors.Is(err, helm.ErrReleaseNotFound) || (err == nil && r.Status == helm.StatusUninstalled) {
		_, err = client.Install(ctx, name, ch, values)
		return err
	}
	if err != nil {
		return err
	}
	if r.Status == helm.StatusDeployed && r.ChartVersion == ch.Version() && helm.ValuesEqual(r.Values, values) {
		return nil
	}
	if r.Status.Pending() {
		if err := client.Unlock(ctx, r); err != nil {
			return err
		}
	}
	_, err = client.Upgrade(ctx, name, ch, values)
	return err
}

// reason adds to err why ctx ended, if it did.
func reason(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), err)
}
