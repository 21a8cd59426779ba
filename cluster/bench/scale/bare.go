// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/bench/barehelm"
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

	b.values = func(other string) (map[string]any, error) { return barehelm.Renamed(values, name, other) }

	return nil
}

// bare installs as many releases as there are to be Tenants, with the same chart and
// values and as many workers as the provider has, and removes them.
func (b *bed) bare(ctx context.Context, s *step) error {
	say("installing %d releases by bare Helm", s.Tenants)

	ctx, cancel := context.WithTimeout(ctx, 2*limitOf(s.Tenants))
	defer cancel()

	free, err := b.installers()
	if err != nil {
		return err
	}

	before, err := b.owners.cpuNow()
	if err != nil {
		return err
	}

	start := time.Now()

	err = each(ctx, s.Tenants, workers, func(ctx context.Context, i int) error { return b.installBare(ctx, bareName(i), free) })
	if err != nil {
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

	after, err := b.owners.cpuNow()
	if err != nil {
		return err
	}

	s.BareCPU = after.since(before, s.Tenants)
	say("%d releases: deployed after %s, all control planes ready after %s", s.Tenants, s.Bare.Deployed, s.Bare.Ready)

	start = time.Now()

	err = each(ctx, s.Tenants, workers, func(ctx context.Context, i int) error { return b.uninstallBare(ctx, bareName(i)) })
	if err != nil {
		return err
	}

	if err := b.awaitNone(ctx, s.Tenants); err != nil {
		return err
	}

	s.BareDelete = seconds(time.Since(start))
	say("%d releases are gone after %s", s.Tenants, s.BareDelete)

	return nil
}

// installers are one for each worker.
func (b *bed) installers() (chan *barehelm.Installer, error) {
	out := make(chan *barehelm.Installer, workers)

	for range workers {
		i, err := b.helm.Installer()
		if err != nil {
			return nil, err
		}

		out <- i
	}

	return out, nil
}

func (b *bed) installBare(ctx context.Context, name string, free chan *barehelm.Installer) error {
	values, err := b.values(name)
	if err != nil {
		return err
	}

	helm := <-free
	defer func() { free <- helm }()

	return helm.Install(ctx, vcluster.HostNamespace(name), vcluster.ReleaseName(name), values)
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
