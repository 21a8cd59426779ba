// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// workers of the bare loop are as many as the provider's by default.
const workers = 10

// bareName is as long as the name of a Tenant, which stands in many values.
func bareName(i int) string { return fmt.Sprintf("bare-%06d", i) }

// learnValues remembers the values that the provider gave to Helm for the Tenant.
func (b *bed) learnValues(t *v1alpha1.Tenant) error {
	name := t.Spec.TenantName

	values, err := b.helm.Values(vcluster.HostNamespace(name), vcluster.ReleaseName(name))
	if err != nil {
		return err
	}

	raw, err := json.Marshal(values)
	if err != nil {
		return fmt.Errorf("cannot copy the provider's values: %w", err)
	}

	b.values = func(other string) (map[string]any, error) {
		var out map[string]any
		if err := json.Unmarshal([]byte(strings.ReplaceAll(string(raw), name, other)), &out); err != nil {
			return nil, fmt.Errorf("cannot copy the provider's values: %w", err)
		}

		return out, nil
	}

	return nil
}

// bare installs as many releases as there are to be Tenants, with the same chart and
// values and as many workers as the provider has, and removes them.
func (b *bed) bare(ctx context.Context, s *step) error {
	say("installing %d releases by bare Helm", s.Tenants)

	ctx, cancel := context.WithTimeout(ctx, 2*limitOf(s.Tenants))
	defer cancel()

	before, err := cpuNow()
	if err != nil {
		return err
	}

	start := time.Now()

	if err := b.loop(ctx, s.Tenants, b.installBare); err != nil {
		return err
	}

	s.Bare.Deployed = seconds(time.Since(start))

	err = b.census(ctx, s.Tenants, "control planes are ready", &appsv1.StatefulSetList{}, func(o client.Object) bool {
		w, ok := o.(*appsv1.StatefulSet)
		return ok && w.Status.ReadyReplicas > 0
	})
	if err != nil {
		return err
	}

	s.Bare.Ready = seconds(time.Since(start))

	after, err := cpuNow()
	if err != nil {
		return err
	}

	s.BareCPU = after.since(before, s.Tenants)
	say("%d releases: deployed after %s, all control planes ready after %s", s.Tenants, s.Bare.Deployed, s.Bare.Ready)

	start = time.Now()

	if err := b.loop(ctx, s.Tenants, b.uninstallBare); err != nil {
		return err
	}

	if err := b.awaitNone(ctx, s.Tenants); err != nil {
		return err
	}

	s.BareDelete = seconds(time.Since(start))
	say("%d releases are gone after %s", s.Tenants, s.BareDelete)

	return nil
}

// loop does fn for each name, by so many workers as the provider has.
func (b *bed) loop(ctx context.Context, n int, fn func(ctx context.Context, name string) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)

	shown := time.Now()

	for i := range n {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}

			return fn(ctx, bareName(i))
		})

		if time.Since(shown) > showEvery {
			shown = time.Now()
			say("  %d of %d releases", i, n)
		}
	}

	return g.Wait()
}

func (b *bed) installBare(ctx context.Context, name string) error {
	values, err := b.values(name)
	if err != nil {
		return err
	}

	install, err := b.helm.Prepare(vcluster.HostNamespace(name), vcluster.ReleaseName(name), values)
	if err != nil {
		return err
	}

	return install(ctx)
}

func (b *bed) uninstallBare(ctx context.Context, name string) error {
	if err := b.helm.Uninstall(vcluster.HostNamespace(name), vcluster.ReleaseName(name)); err != nil {
		return err
	}

	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: vcluster.HostNamespace(name)}}
	if err := b.host.Client.Delete(ctx, ns); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot delete namespace %q: %w", ns.GetName(), err)
	}

	return nil
}
