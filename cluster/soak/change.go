// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

const (
	// heardBound is how soon the provider must know that a Tenant is paused.
	heardBound = 5 * time.Second
	// pausedFor is how long nothing must be written then.
	pausedFor = 8 * time.Second
)

// changeQuota up or down. The wall must follow.
func (l *life) changeQuota(ctx context.Context) (mended, error) {
	cpu, memory := resource.MustParse(fmt.Sprint(2+l.rand.IntN(6))), resource.MustParse(fmt.Sprintf("%dGi", 4+l.rand.IntN(8)))

	err := l.patch(ctx, func(t *v1alpha1.Tenant) { t.Spec.Quota.CPU, t.Spec.Quota.Memory = ptr.To(cpu), ptr.To(memory) })

	return func(ctx context.Context) error {
		wall := &corev1.ResourceQuota{ObjectMeta: namesOf(l.tenant).wall}
		if err := l.soak.cluster.Client.Get(ctx, client.ObjectKeyFromObject(wall), wall); err != nil {
			return err
		}

		q := l.tenant.Status.Quota
		if q == nil {
			return errors.New("no quota in the status")
		}

		for name, want := range map[corev1.ResourceName]resource.Quantity{corev1.ResourceRequestsCPU: cpu, corev1.ResourceRequestsMemory: memory} {
			want.Add(q.Platform[name])

			if got := wall.Spec.Hard[name]; got.Cmp(want) != 0 {
				return fmt.Errorf("the wall's %s is %s, not %s", name, got.String(), want.String())
			}
		}

		return nil
	}, err
}

// changeValues of the control plane's resources, which a Tenant may.
func (l *life) changeValues(ctx context.Context) (mended, error) {
	memory := fmt.Sprintf("%dMi", 2048+64*l.rand.IntN(32))
	value := overrides(`{"controlPlane":{"statefulSet":{"resources":{"limits":{"memory":"` + memory + `"}}}}}`)

	err := l.patch(ctx, func(t *v1alpha1.Tenant) { t.Spec.VCluster = &v1alpha1.VClusterSpec{ValuesOverrides: value} })

	return func(ctx context.Context) error {
		s := &appsv1.StatefulSet{ObjectMeta: namesOf(l.tenant).release}
		if err := l.soak.cluster.Client.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
			return err
		}

		for _, c := range s.Spec.Template.Spec.Containers {
			if c.Resources.Limits.Memory().Cmp(resource.MustParse(memory)) == 0 {
				return nil
			}
		}

		return fmt.Errorf("no container has the limit %s", memory)
	}, err
}

// retryNow asks by the annotation or, as people do, by the status.
func (l *life) retryNow(ctx context.Context) (mended, error) {
	if l.rand.IntN(2) == 0 {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Pending"}}`))

		return nil, l.soak.cluster.Client.Patch(ctx, l.tenant, patch)
	}

	token := newID(l.rand)
	err := l.patch(ctx, func(t *v1alpha1.Tenant) {
		meta.AddAnnotations(t, map[string]string{meta.AnnotationKeyReconcileRequestedAt: token})
	})

	return func(context.Context) error {
		if got := l.tenant.GetLastHandledReconcileAt(); got != token {
			return fmt.Errorf("request %q was handled last, not %q", got, token)
		}

		return nil
	}, err
}

// pauseAndHarm proves that nothing is written for a paused Tenant, and goes on.
func (l *life) pauseAndHarm(ctx context.Context) (mended, error) {
	err := l.patch(ctx, func(t *v1alpha1.Tenant) {
		meta.AddAnnotations(t, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
	})
	if err != nil {
		return nil, err
	}

	heard := time.Now()
	rig.Sleep(ctx, heardBound)

	again, err := l.delete(ctx, &corev1.Secret{ObjectMeta: namesOf(l.tenant).published})
	if err == nil {
		rig.Sleep(ctx, pausedFor)

		// Where the host API was disturbed, the provider may not have heard of it.
		if l.soak.host.since(heard) >= heardBound+pausedFor && again(ctx) == nil {
			l.wrong(ctx, "something was written while it was paused", errors.New("its Secret is back"))
		}
	}

	resumed := l.patch(ctx, func(t *v1alpha1.Tenant) { meta.RemoveAnnotations(t, meta.AnnotationKeyReconciliationPaused) })

	return again, errors.Join(err, resumed)
}
