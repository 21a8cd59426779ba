// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	kresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

const (
	// lookEvery is how often it is looked whether something has come about.
	lookEvery = 500 * time.Millisecond
	// showEvery is how often it is said how far it has come.
	showEvery = 15 * time.Second
	// atOnce is how much is made at once where that is not what is measured.
	atOnce = 16
)

// limitOf what is done with n Tenants: what takes longer does not work.
func limitOf(n int) time.Duration { return 3*time.Minute + time.Duration(n)*3*time.Second }

var inTenants = client.InNamespace(rig.Namespace)

func tenantName(i int) string { return fmt.Sprintf("bench-%05d", i) }

// benchTenant has neither Flux nor an App Advisor: those would be some 30 more objects in
// each vCluster, at the one API server that plays all.
func benchTenant(name string) *v1alpha1.Tenant {
	t := &v1alpha1.Tenant{ObjectMeta: metav1.ObjectMeta{Namespace: rig.Namespace, Name: name}}
	t.Spec.UserID, t.Spec.TenantName, t.Spec.CloudSpaceID = name, name, name
	t.Spec.Quota = v1alpha1.QuotaSpec{CPU: ptr.To(kresource.MustParse("4")), Memory: ptr.To(kresource.MustParse("8Gi"))}
	t.Spec.Flux = &v1alpha1.FluxSpec{Enabled: ptr.To(false)}
	t.Spec.Advisor = &v1alpha1.AdvisorSpec{Enabled: ptr.To(false)}

	return t
}

// each does fn for 0 to n-1, by so many workers.
func each(ctx context.Context, n, workers int, fn func(ctx context.Context, i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)

	shown := time.Now()

	for i := range n {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}

			return fn(ctx, i)
		})

		if time.Since(shown) > showEvery {
			shown = time.Now()
			say("  %d of %d are begun", i+1, n)
		}
	}

	return g.Wait()
}

// createAll creates n Tenants at once, and waits until all are Ready.
func (b *bed) createAll(ctx context.Context, n int) (creation, error) {
	ctx, cancel := context.WithTimeout(ctx, limitOf(n))
	defer cancel()

	var (
		out   creation
		g     errgroup.Group
		start = time.Now()
	)

	g.Go(func() error {
		err := b.awaitReleases(ctx, n)
		out.Deployed = seconds(time.Since(start))

		return err
	})
	g.Go(func() error {
		err := b.awaitReady(ctx, n)
		out.Ready = seconds(time.Since(start))

		return err
	})

	err := each(ctx, n, atOnce, func(ctx context.Context, i int) error { return b.host.Client.Create(ctx, benchTenant(tenantName(i))) })
	if err != nil {
		err = fmt.Errorf("cannot create Tenants: %w", err)
		cancel()
	}

	return out, errors.Join(err, g.Wait())
}

// awaitReady waits until so many Tenants are Ready.
func (b *bed) awaitReady(ctx context.Context, n int) error {
	return b.census(ctx, n, "Tenants are Ready", &v1alpha1.TenantList{}, func(o client.Object) bool {
		t, ok := o.(*v1alpha1.Tenant)
		return ok && t.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue
	}, inTenants)
}

// awaitReleases waits until so many Helm releases are deployed.
func (b *bed) awaitReleases(ctx context.Context, n int) error {
	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))

	return b.census(ctx, n, "releases are deployed", l, func(o client.Object) bool { return o.GetLabels()["status"] == "deployed" },
		client.MatchingLabels{"owner": "helm"})
}

// census watches until so many objects are as asked for.
func (b *bed) census(ctx context.Context, n int, what string, l client.ObjectList, is func(client.Object) bool, opts ...client.ListOption) error {
	seen, shown := map[string]bool{}, time.Now()

	for ; ctx.Err() == nil; rig.Sleep(ctx, lookEvery) {
		w, err := b.host.Client.Watch(ctx, l, opts...)
		if err != nil {
			return fmt.Errorf("cannot watch %T: %w", l, err)
		}

		for e := range w.ResultChan() {
			o, ok := e.Object.(client.Object)
			if !ok {
				break
			}

			key := o.GetNamespace() + "/" + o.GetName()
			if delete(seen, key); e.Type != watch.Deleted && is(o) {
				seen[key] = true
			}

			if time.Since(shown) > showEvery {
				shown = time.Now()
				say("  %d of %d %s", len(seen), n, what)
			}

			if len(seen) >= n {
				w.Stop()
				return nil
			}
		}

		w.Stop()
	}

	return fmt.Errorf("only %d of %d %s: %w\n%s", len(seen), n, what, ctx.Err(), b.firstNotReady())
}

// firstNotReady describes a Tenant that is not Ready, for a person.
func (b *bed) firstNotReady() string {
	ctx, cancel := context.WithTimeout(context.Background(), showEvery)
	defer cancel()

	all := &v1alpha1.TenantList{}
	if err := b.host.Client.List(ctx, all, inTenants); err != nil {
		return err.Error()
	}

	for i := range all.Items {
		if all.Items[i].GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
			return rig.Describe(&all.Items[i])
		}
	}

	return ""
}

// awaitNone waits until of n Tenants none is left, nor any host namespace.
func (b *bed) awaitNone(ctx context.Context, n int) error {
	return until(ctx, limitOf(n), func(ctx context.Context) (string, error) {
		tenants, namespaces := &metav1.PartialObjectMetadataList{}, &metav1.PartialObjectMetadataList{}
		tenants.SetGroupVersionKind(v1alpha1.TenantGroupVersionKind)
		namespaces.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("NamespaceList"))

		if err := b.host.Client.List(ctx, tenants, inTenants); err != nil {
			return "", fmt.Errorf("cannot list Tenants: %w", err)
		}

		if err := b.host.Client.List(ctx, namespaces); err != nil {
			return "", fmt.Errorf("cannot list namespaces: %w", err)
		}

		left := 0

		for i := range namespaces.Items {
			if tenantIn(namespaces.Items[i].GetName()) != "" {
				left++
			}
		}

		if len(tenants.Items)+left == 0 {
			return "", nil
		}

		return fmt.Sprintf("%d Tenants and %d host namespaces are left", len(tenants.Items), left), nil
	})
}

// newTenants measures n new Tenants, one after the other. What look does counts no time.
func (b *bed) newTenants(ctx context.Context, n int, to *samples, look func(*v1alpha1.Tenant) error) error {
	for range n {
		t := benchTenant(fmt.Sprintf("new-%05d", b.news))
		b.news++

		if err := b.tenants.add(ctx, t.GetName()); err != nil {
			return err
		}

		if err := b.measureNew(ctx, t, to); err != nil {
			return err
		}

		if look != nil {
			if err := look(t); err != nil {
				return err
			}
		}

		if err := b.removeNew(ctx, t); err != nil {
			return err
		}
	}

	return nil
}

// measureNew creates a Tenant and measures until the provider first writes of it, and
// until it is Ready.
func (b *bed) measureNew(ctx context.Context, t *v1alpha1.Tenant, to *samples) error {
	ctx, cancel := context.WithTimeout(ctx, limitOf(1))
	defer cancel()

	w, err := b.host.Client.Watch(ctx, &v1alpha1.TenantList{}, inTenants, client.MatchingFields{"metadata.name": t.GetName()})
	if err != nil {
		return fmt.Errorf("cannot watch Tenants: %w", err)
	}
	defer w.Stop()

	start, first := time.Now(), time.Duration(0)

	if err := b.host.Client.Create(ctx, t); err != nil {
		return fmt.Errorf("cannot create a Tenant: %w", err)
	}

	for e := range w.ResultChan() {
		now, ok := e.Object.(*v1alpha1.Tenant)
		if !ok || e.Type != watch.Modified {
			continue
		}

		if first == 0 {
			first = time.Since(start)
		}

		if now.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
			to.First, to.Ready = append(to.First, seconds(first)), append(to.Ready, seconds(time.Since(start)))
			say("  first reconciled after %s, Ready after %s", seconds(first), seconds(time.Since(start)))

			return nil
		}
	}

	return fmt.Errorf("cannot see that a new Tenant is Ready: %w\n%s", rig.WatchEnded(ctx), b.firstNotReady())
}

func (b *bed) removeNew(ctx context.Context, t *v1alpha1.Tenant) error {
	if err := b.host.Client.Delete(ctx, t); err != nil {
		return fmt.Errorf("cannot delete a Tenant: %w", err)
	}

	return until(ctx, limitOf(1), func(ctx context.Context) (string, error) {
		err := b.host.Client.Get(ctx, client.ObjectKeyFromObject(t), &v1alpha1.Tenant{})
		if client.IgnoreNotFound(err) != nil {
			return "", err
		}

		if err == nil {
			return "the new Tenant is left", nil
		}

		return "", nil
	})
}
