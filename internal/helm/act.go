// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func (c *client) Install(ctx context.Context, name string, ch *Chart, values map[string]any) (*Release, error) {
	newest, err := c.newest(ctx, name)
	if err != nil && !errors.Is(err, ErrReleaseNotFound) {
		return nil, err
	}
	if newest != nil {
		switch s := Status(newest.Labels["status"]); {
		case s.Pending():
			return nil, fmt.Errorf("%w: cannot install %q, revision %s is %s", ErrReleaseLocked, name, newest.Labels["version"], s)
		case s != StatusUninstalled:
			return nil, fmt.Errorf("%w: cannot install %q, revision %s is %s", ErrReleaseChanged, name, newest.Labels["version"], s)
		}
	}

	return c.install(ctx, name, ch, values, newest != nil)
}

// install the release, over its newest revision if that is to be replaced.
func (c *client) install(ctx context.Context, name string, ch *Chart, values map[string]any, replace bool) (*Release, error) {
	return c.apply(ctx, actionInstall, name, ch, values, func(cfg *action.Configuration, ch *chart.Chart, v map[string]any) (*release.Release, error) {
		if !replace {
			cfg.Releases.MaxHistory = 0 // There is no history to cut, so that none is listed.
		}
		a := action.NewInstall(cfg)
		a.ReleaseName = name
		a.Namespace = c.namespace
		a.Timeout = c.hookTimeout
		a.Replace = replace
		a.DisableHooks = c.options.skipHooks
		a.PostRenderer = c.options.postRenderer()
		a.Labels = writtenLabels(ch.Name(), ch.Metadata.Version, v)
		a.DisableOpenAPIValidation = true
		a.SkipSchemaValidation = true // apply did it
		return a.Run(ch, v)
	})
}

func (c *client) Upgrade(ctx context.Context, name string, ch *Chart, values map[string]any) (*Release, error) {
	newest, err := c.newest(ctx, name)
	if err != nil {
		return nil, err
	}
	switch s := Status(newest.Labels["status"]); {
	case s.Pending():
		return nil, fmt.Errorf("%w: cannot upgrade %q, revision %s is %s", ErrReleaseLocked, name, newest.Labels["version"], s)
	case s == StatusUninstalled:
		return nil, fmt.Errorf("%w: %q is uninstalled, install it", ErrReleaseNotFound, name)
	case s == StatusFailed && !c.options.skipHooks:
		r, err := c.read(ctx, name, newest)
		if err != nil {
			return nil, err
		}
		if stoppedByHook(r) {
			return c.install(ctx, name, ch, values, true)
		}
	}

	return c.apply(ctx, actionUpgrade, name, ch, values, func(cfg *action.Configuration, ch *chart.Chart, v map[string]any) (*release.Release, error) {
		a := action.NewUpgrade(cfg)
		a.Namespace = c.namespace
		a.Timeout = c.hookTimeout
		a.MaxHistory = maxHistory
		a.ResetValues = true // or empty values would mean the old ones
		a.DisableHooks = c.options.skipHooks
		a.PostRenderer = c.options.postRenderer()
		a.Labels = writtenLabels(ch.Name(), ch.Metadata.Version, v)
		a.DisableOpenAPIValidation = true
		a.SkipSchemaValidation = true // apply did it
		return a.Run(name, ch, v)
	})
}

// stoppedByHook says whether a failed revision is of an install that did not get
// past the hooks ahead of it. Nothing of the release was made, and an upgrade would
// never run these hooks.
func stoppedByHook(r *release.Release) bool {
	if !r.Info.LastDeployed.Equal(r.Info.FirstDeployed) {
		return false // An upgrade, whose hooks may be the same.
	}
	return slices.ContainsFunc(r.Hooks, func(h *release.Hook) bool {
		return h != nil && slices.Contains(h.Events, release.HookPreInstall) && h.LastRun.Phase != release.HookPhaseSucceeded
	})
}

// applyFn is an install or an upgrade. It may change what it is given.
type applyFn func(*action.Configuration, *chart.Chart, map[string]any) (*release.Release, error)

func (c *client) apply(ctx context.Context, verb, name string, ch *Chart, values map[string]any, fn applyFn) (*Release, error) {
	if err := ch.Validate(values); err != nil {
		return nil, err
	}
	v, err := copyValues(values)
	if err != nil {
		return nil, err
	}
	if err := c.checkAccess(ctx); err != nil {
		return nil, fmt.Errorf("cannot %s release %q: %w", verb, name, err)
	}

	log.FromContext(ctx).V(1).Info("Running Helm", "action", verb, "release", name, "namespace", c.namespace, "chart", ch.Name(), "version", ch.Version())
	r, err := c.run(ctx, false, func(cfg *action.Configuration, k *cluster) (*release.Release, error) {
		hc := ch.clone()
		// A chart that brings CRDs changes what the host serves while it is
		// installed; Helm then has to look for itself.
		if len(hc.CRDObjects()) == 0 {
			caps, err := k.getter.host.capabilities(ctx)
			if err != nil {
				return nil, err
			}
			cfg.Capabilities = caps
		}
		return fn(cfg, hc, v)
	})
	countAction(verb, err)
	if errors.Is(err, driver.ErrReleaseExists) {
		return nil, fmt.Errorf("%w: another writer was faster on %q", ErrReleaseLocked, name)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot %s release %q in namespace %q: %w", verb, name, c.namespace, oneLine(err))
	}
	return toRelease(r, nil), nil
}

// run runs a Helm action. When ctx ends, its calls to the host end with it; the
// action is then given a moment to record how far it came.
func (c *client) run(ctx context.Context, uninstalling bool, fn func(*action.Configuration, *cluster) (*release.Release, error)) (*release.Release, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	recordCtx, cancel := outlive(ctx, wrapUp)

	type result struct {
		r   *release.Release
		err error
	}
	done := make(chan result, 1)
	go func() {
		defer cancel()
		cfg, k := c.configuration(ctx, recordCtx, uninstalling)
		r, err := safely(func() (*release.Release, error) { return fn(cfg, k) })
		done <- result{r, err}
	}()

	var res result
	select {
	case res = <-done:
	case <-recordCtx.Done():
		// Either the action has just ended, or it did not end in time.
		select {
		case res = <-done:
		default:
			return nil, ctx.Err()
		}
	}
	if res.err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("%w: %w", ctx.Err(), res.err)
	}
	return res.r, res.err
}

// outlive returns a context that ends d after ctx does, or when it is cancelled.
func outlive(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(d, cancel) })
	return out, func() {
		stop()
		cancel()
	}
}
