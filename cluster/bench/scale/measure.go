// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/figures"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

const (
	// poll is the provider's default, and twoPolls what two take on average, as each is
	// spread to up to a tenth more. One of the two reads.
	poll     = time.Minute
	twoPolls = 2 * poll * 21 / 20
	// settling is long enough for each Tenant's first poll since it was Ready.
	settling = poll * 3 / 2
)

// The provider's controllers of what it polls. None but the poll wakes them at rest.
var (
	tenantController = managed.ControllerName(v1alpha1.TenantGroupVersionKind.GroupKind().String())
	quotaController  = managed.ControllerName(v1alpha1.TenantQuotaGroupVersionKind.GroupKind().String())
)

// measure all that is asked for, into r as it is known.
func (b *bed) measure(ctx context.Context, r *result) error {
	if err := b.empty(ctx, r); err != nil {
		return fmt.Errorf("cannot measure on an empty host: %w", err)
	}

	for _, n := range b.flags.Steps {
		r.Steps = append(r.Steps, step{Tenants: n})

		if err := b.measureStep(ctx, &r.Steps[len(r.Steps)-1]); err != nil {
			return fmt.Errorf("cannot measure %d Tenants: %w", n, err)
		}

		if err := figures.Write(b.flags.Output, *r); err != nil {
			return err
		}
	}

	if b.flags.ForeignCRDs == 0 {
		return nil
	}

	if err := b.heaps(ctx, r); err != nil {
		return fmt.Errorf("cannot measure the heap over many reconciles: %w", err)
	}

	return nil
}

// empty measures new Tenants on a host that has no others. One before them warms up: it
// has the chart downloaded, and teaches the values that the provider gives to Helm.
func (b *bed) empty(ctx context.Context, r *result) error {
	if err := b.provider.Start(ctx); err != nil {
		return err
	}

	say("warming up by a new Tenant")

	if err := b.newTenants(ctx, 1, &samples{}, b.learnValues); err != nil {
		return err
	}

	say("measuring %d new Tenants on an empty host", b.flags.Samples)

	if err := b.newTenants(ctx, b.flags.Samples, &r.Empty, nil); err != nil {
		return err
	}

	return b.provider.Stop()
}

// measureStep measures one number of Tenants, by a provider of its own. The host is empty
// before and after.
func (b *bed) measureStep(ctx context.Context, s *step) error {
	if err := b.addFakes(ctx, s.Tenants); err != nil {
		return err
	}

	if b.flags.Bare {
		if err := b.bare(ctx, s); err != nil {
			return fmt.Errorf("cannot do it by bare Helm: %w", err)
		}
	}

	if err := b.provider.Start(ctx); err != nil {
		return err
	}

	for _, part := range []func(context.Context, *step) error{b.idle, b.create, b.rest, b.among, b.delete} {
		if err := part(ctx, s); err != nil {
			return fmt.Errorf("%w\n%s", err, b.provider.Tail(15))
		}
	}

	s.Complete = true

	return b.provider.Stop()
}

// addFakes prepares the insides of vClusters, which takes time that is nobody's.
func (b *bed) addFakes(ctx context.Context, n int) error {
	say("preparing the fake APIs of %d tenants", n)

	return each(ctx, n, atOnce, func(ctx context.Context, i int) error { return b.tenants.add(ctx, tenantName(i)) })
}

// idle measures a provider that has nothing to do.
func (b *bed) idle(ctx context.Context, s *step) error {
	var err error
	s.Idle, err = b.provider.LeastFootprint(ctx)

	return err
}

func (b *bed) create(ctx context.Context, s *step) error {
	say("creating %d Tenants", s.Tenants)

	before, err := b.reconciles(ctx)
	if err != nil {
		return err
	}

	inside, load := b.tenants.counted(), b.watchLoad(ctx)

	taken, err := b.owners.cpuNow()
	if err != nil {
		return err
	}

	mark, err := rig.MarkAudit(b.auditLog)
	if err != nil {
		return err
	}

	s.Create, err = b.createAll(ctx, s.Tenants)
	if err != nil {
		return err
	}

	after, err := b.owners.cpuNow()
	if err != nil {
		return err
	}

	s.CreateCPU = after.since(taken, s.Tenants)

	if s.Load, err = load(); err != nil {
		return err
	}

	reconciles, err := b.reconciles(ctx)
	if err != nil {
		return err
	}

	s.CreateReconciles = difference(reconciles, before)

	events, err := rig.ReadAudit(b.auditLog, mark)
	if err != nil {
		return err
	}

	s.CreateRequests = sortRequests(events)
	s.CreateRequests.Inside = b.tenants.counted().since(inside)
	say("%d Tenants: releases deployed after %s, all Ready after %s, by reconciles: %v", s.Tenants, s.Create.Deployed, s.Create.Ready, s.CreateReconciles)

	return nil
}

// rest leaves Ready Tenants alone.
func (b *bed) rest(ctx context.Context, s *step) error {
	say("waiting for %s, then measuring at rest for %s", settling, b.flags.Rest)
	rig.Sleep(ctx, settling)

	mark, err := rig.MarkAudit(b.auditLog)
	if err != nil {
		return err
	}

	before, err := b.reconciles(ctx)
	if err != nil {
		return err
	}

	inside, load := b.tenants.counted(), b.watchLoad(ctx)
	rig.Sleep(ctx, b.flags.Rest)

	if s.Rest, err = load(); err != nil {
		return err
	}

	inside = b.tenants.counted().since(inside)

	after, err := b.reconciles(ctx)
	if err != nil {
		return err
	}

	events, err := rig.ReadAudit(b.auditLog, mark)
	if err != nil {
		return err
	}

	s.RestRequests = sortRequests(events)
	s.RestRequests.Inside = inside
	s.RestReconciles = difference(after, before)

	// Tenants that are tried again and again would make each poll look cheap.
	s.Polls = s.RestReconciles[tenantController] / float64(s.Tenants)
	if most := b.flags.Rest.Minutes()/poll.Minutes() + 1; s.Polls == 0 || s.Polls > most {
		return fmt.Errorf("the provider has reconciled each Tenant %.1f times in %s, which are not its polls", s.Polls, b.flags.Rest)
	}

	if notReady := b.firstNotReady(); notReady != "" {
		return fmt.Errorf("a Tenant is not Ready any more: %s", notReady)
	}

	for _, l := range s.restLines() {
		fmt.Println(l)
	}

	s.RestMemory, err = b.provider.LeastFootprint(ctx)

	return err
}

// among measures new Tenants among those that are Ready.
func (b *bed) among(ctx context.Context, s *step) error {
	say("measuring %d new Tenants among %d", b.flags.Samples, s.Tenants)

	return b.newTenants(ctx, b.flags.Samples, &s.Among, nil)
}

func (b *bed) delete(ctx context.Context, s *step) error {
	say("deleting %d Tenants", s.Tenants)

	start := time.Now()

	err := each(ctx, s.Tenants, atOnce, func(ctx context.Context, i int) error {
		return b.host.Client.Delete(ctx, &v1alpha1.Tenant{ObjectMeta: metav1.ObjectMeta{Namespace: rig.Namespace, Name: tenantName(i)}})
	})
	if err != nil {
		return fmt.Errorf("cannot delete the Tenants: %w", err)
	}

	if err := b.awaitNone(ctx, s.Tenants); err != nil {
		return err
	}

	s.Delete = seconds(time.Since(start))
	say("%d Tenants are gone after %s", s.Tenants, s.Delete)

	return nil
}

// reconciles are how often each controller of the provider has reconciled.
func (b *bed) reconciles(ctx context.Context) (map[string]float64, error) {
	m, err := b.provider.Metrics(ctx)
	if err != nil {
		return nil, err
	}

	out := map[string]float64{}

	for _, c := range m["controller_runtime_reconcile_total"].GetMetric() {
		for _, l := range c.GetLabel() {
			if l.GetName() == "controller" {
				out[l.GetValue()] += c.GetCounter().GetValue()
			}
		}
	}

	return out, nil
}

func difference(after, before map[string]float64) map[string]float64 {
	out := map[string]float64{}

	for k, n := range after {
		if n > before[k] {
			out[k] = n - before[k]
		}
	}

	return out
}

// until asks until the answer is empty, and shows it from time to time. It errs with
// the last when that takes too long.
func until(ctx context.Context, limit time.Duration, ask func(context.Context) (string, error)) error {
	var (
		last  string
		shown = time.Now()
	)

	err := wait.PollUntilContextTimeout(ctx, lookEvery, limit, true, func(ctx context.Context) (bool, error) {
		var err error
		if last, err = ask(ctx); err != nil {
			return false, err
		}

		if last != "" && time.Since(shown) > showEvery {
			shown = time.Now()
			say("  %s", last)
		}

		return last == "", nil
	})
	if err != nil {
		return fmt.Errorf("%w: %s", err, last)
	}

	return nil
}
