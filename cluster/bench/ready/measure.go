// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/bench/barehelm"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

const (
	// minRounds is the fewest that a median is taken of.
	minRounds = 3
	// limit of one measurement, and of cleaning up after it.
	limit = 3 * time.Minute
	// askEvery is how often a bare vCluster's API is asked whether it answers.
	askEvery = 50 * time.Millisecond
	// lookEvery is how often it is looked whether all is gone.
	lookEvery = 500 * time.Millisecond
)

var errEarly = errors.New("the Tenant said so before its API answered")

// bench measures on one cluster.
type bench struct {
	cluster  *rig.Cluster
	provider *rig.Provider
	helm     *barehelm.Helm
	// likeTenant and bareDefaults are the values of the two bare installs.
	likeTenant   func(t *v1alpha1.Tenant) (map[string]any, error)
	bareDefaults map[string]any
	// stages of the CloudSpaces that were measured.
	stages stages
}

func newBench(c *rig.Cluster, p *rig.Provider) (*bench, error) {
	chart, err := barehelm.Pull(rig.ChartRepository, rig.ChartVersion)
	if err != nil {
		return nil, err
	}

	return &bench{
		cluster:  c,
		provider: p,
		helm:     barehelm.New(chart, ""),
		stages:   stages{},
		// The chart's own defaults, but for the image that may be used by all.
		bareDefaults: map[string]any{"controlPlane": map[string]any{"statefulSet": map[string]any{
			"image": map[string]any{"repository": vcluster.ImageRepository},
		}}},
	}, nil
}

// measure warms up and measures so many rounds. Each begins with another of the
// ways, so that none has the better place.
func (b *bench) measure(ctx context.Context, n int) ([]round, error) {
	fmt.Println("warming up")

	if err := b.warmUp(ctx); err != nil {
		return nil, fmt.Errorf("cannot warm up: %w", err)
	}

	rounds := make([]round, n)

	for i := range rounds {
		for _, w := range rotate(ways(), i) {
			d, err := w.of(b, ctx)
			if err != nil {
				return nil, fmt.Errorf("cannot measure %s: %w", w.name, err)
			}

			fmt.Printf("round %d: %-28s %6.2f s\n", i+1, w.name, d.Seconds())
			w.put(&rounds[i], d)
		}
	}

	return rounds, nil
}

// way is one of those that are compared.
type way struct {
	name string
	of   func(*bench, context.Context) (time.Duration, error)
	put  func(*round, time.Duration)
}

func ways() []way {
	return []way{
		{"bare Helm, the same values", (*bench).bareSame, func(r *round, d time.Duration) { r.same = d }},
		{"Tenant, its vCluster", func(b *bench, ctx context.Context) (time.Duration, error) { return b.vCluster(ctx, nil) },
			func(r *round, d time.Duration) { r.tenant = d }},
		{"Tenant, the whole CloudSpace", (*bench).cloudSpace, func(r *round, d time.Duration) { r.whole = d }},
		{"bare Helm, chart's defaults", (*bench).bareDefault, func(r *round, d time.Duration) { r.defaults = d }},
	}
}

func rotate(ws []way, by int) []way {
	by %= len(ws)

	return append(ws[by:len(ws):len(ws)], ws[:by]...)
}

// warmUp runs each way once, so that images and charts are there, and learns
// the values that the provider gives to Helm.
func (b *bench) warmUp(ctx context.Context) error {
	learn := func(t *v1alpha1.Tenant) error {
		values, err := b.helm.Values(namespaceOf(t), releaseOf(t))
		if err != nil {
			return err
		}

		b.likeTenant = func(other *v1alpha1.Tenant) (map[string]any, error) {
			return barehelm.Renamed(values, t.Spec.TenantName, other.Spec.TenantName, t.Spec.CloudSpaceID, other.Spec.CloudSpaceID)
		}

		return nil
	}
	if _, err := b.vCluster(ctx, learn); err != nil {
		return err
	}

	if _, err := b.cloudSpace(ctx); err != nil {
		return err
	}

	b.stages = stages{} // The first downloads Flux's chart.

	if _, err := b.bareSame(ctx); err != nil {
		return err
	}

	_, err := b.bareDefault(ctx)

	return err
}

func (b *bench) bareSame(ctx context.Context) (time.Duration, error) {
	t := rig.NewTenant(rig.Namespace, "bare")

	values, err := b.likeTenant(t)
	if err != nil {
		return 0, err
	}

	return b.bare(ctx, t, values)
}

func (b *bench) bareDefault(ctx context.Context) (time.Duration, error) {
	return b.bare(ctx, rig.NewTenant(rig.Namespace, "bare"), b.bareDefaults)
}

// bare is how long a vCluster takes from helm install until its API answers.
// The Tenant only gives the names and is not made.
func (b *bench) bare(ctx context.Context, t *v1alpha1.Tenant, values map[string]any) (d time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	helm, err := b.helm.Installer()
	if err != nil {
		return 0, err
	}

	defer func() { err = errors.Join(err, b.removeBare(t)) }()

	start := time.Now()

	if err := helm.Install(ctx, namespaceOf(t), releaseOf(t), values); err != nil {
		return 0, err
	}

	var last error

	err = wait.PollUntilContextCancel(ctx, askEvery, true, func(ctx context.Context) (bool, error) {
		last = b.cluster.ExportedAnswers(ctx, releaseOf(t), namespaceOf(t))
		return last == nil, nil
	})
	if err != nil {
		return 0, fmt.Errorf("%w: %w", err, last)
	}

	return time.Since(start), nil
}

// removeBare has a time of its own, to clean up after an interrupt as well.
func (b *bench) removeBare(t *v1alpha1.Tenant) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()

	if err := b.helm.Uninstall(namespaceOf(t), releaseOf(t)); err != nil {
		return err
	}

	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceOf(t)}}
	if err := b.cluster.Client.Delete(ctx, ns); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot delete namespace %q: %w", ns.GetName(), err)
	}

	return b.awaitNothing(ctx, t)
}

// vCluster is how long a Tenant without Flux and App Advisor takes until its
// kubeconfig is published: what bare Helm does, and no more.
func (b *bench) vCluster(ctx context.Context, look func(*v1alpha1.Tenant) error) (time.Duration, error) {
	return b.tenant(ctx, rig.NewTenant(rig.Namespace, "bench"), v1alpha1.TypeKubeconfigPublished, look)
}

// cloudSpace is how long a Tenant takes with Flux and the App Advisor in it, and
// learns how that splits over its stages.
func (b *bench) cloudSpace(ctx context.Context) (time.Duration, error) {
	t := rig.NewTenant(rig.Namespace, "whole")
	t.Spec.Flux, t.Spec.Advisor = nil, nil

	before, err := readStages(ctx, b.provider)
	if err != nil {
		return 0, err
	}

	return b.tenant(ctx, t, xpv2.TypeReady, func(*v1alpha1.Tenant) error {
		took, err := b.awaitStages(ctx, before)
		if err != nil {
			return err
		}

		b.stages.add(took)

		return nil
	})
}

// awaitStages are the stages since before. The provider counts them right after it
// has written the status by which the Tenant is Ready.
func (b *bench) awaitStages(ctx context.Context, before stages) (took stages, err error) {
	err = wait.PollUntilContextCancel(ctx, askEvery, true, func(ctx context.Context) (bool, error) {
		after, err := readStages(ctx, b.provider)
		took = after.since(before)

		return took[string(xpv2.TypeReady)].Count > 0, err
	})

	return took, err
}

// tenant is how long a Tenant takes from its creation until a watch sees that the
// condition is True. Its API must answer then, at the first question. What look returns
// counts no time.
func (b *bench) tenant(ctx context.Context, t *v1alpha1.Tenant, until xpv2.ConditionType, look func(*v1alpha1.Tenant) error) (d time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	w, err := b.cluster.Client.Watch(ctx, &v1alpha1.TenantList{}, client.InNamespace(t.GetNamespace()))
	if err != nil {
		return 0, fmt.Errorf("cannot watch Tenants: %w", err)
	}
	defer w.Stop()
	defer func() { err = errors.Join(err, b.removeTenant(t)) }()

	start := time.Now()

	if err := b.cluster.Client.Create(ctx, t); err != nil {
		return 0, fmt.Errorf("cannot create a Tenant: %w", err)
	}

	for e := range w.ResultChan() {
		now, ok := e.Object.(*v1alpha1.Tenant)
		if !ok || now.GetName() != t.GetName() || now.GetCondition(until).Status != corev1.ConditionTrue {
			continue
		}

		d = time.Since(start)

		if err := b.published(ctx, now); err != nil {
			return 0, fmt.Errorf("%w: %w", errEarly, err)
		}

		if look != nil {
			return d, look(now)
		}

		return d, nil
	}

	return 0, fmt.Errorf("cannot see that the Tenant is %s: %w", until, rig.WatchEnded(ctx))
}

// published asks the Tenant's API with the kubeconfig that its status names.
func (b *bench) published(ctx context.Context, t *v1alpha1.Tenant) error {
	s := &corev1.Secret{}
	if err := b.cluster.Client.Get(ctx, client.ObjectKey{Namespace: t.GetNamespace(), Name: t.Status.KubeconfigSecret}, s); err != nil {
		return fmt.Errorf("cannot read its kubeconfig: %w", err)
	}

	return rig.Answers(ctx, s.Data[xpv2.CredentialsSecretKubeconfigKey])
}

func (b *bench) removeTenant(t *v1alpha1.Tenant) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()

	if err := b.cluster.Client.Delete(ctx, t); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot delete Tenant %q: %w", t.GetName(), err)
	}

	return b.awaitNothing(ctx, t)
}

// awaitNothing waits until nothing of those names is left, so that the next
// measurement finds the cluster as this one did.
func (b *bench) awaitNothing(ctx context.Context, t *v1alpha1.Tenant) error {
	var left []string

	err := wait.PollUntilContextCancel(ctx, lookEvery, true, func(ctx context.Context) (bool, error) {
		var err error
		left, err = b.cluster.Leftovers(ctx, t)

		return len(left) == 0, err
	})
	if err != nil {
		return fmt.Errorf("cannot clean up: %w; left: %s", err, strings.Join(left, ", "))
	}

	return nil
}

func releaseOf(t *v1alpha1.Tenant) string   { return vcluster.ReleaseName(t.Spec.TenantName) }
func namespaceOf(t *v1alpha1.Tenant) string { return vcluster.HostNamespace(t.Spec.TenantName) }
