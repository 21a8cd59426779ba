// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// wallName is that of a Tenant's ResourceQuota and LimitRange on the host.
const wallName = "kubeopera-tenant"

// disturbance is what is done to a Ready Tenant. It returns what must be so again
// besides being Ready; nil is nothing.
type disturbance struct {
	name string
	do   func(*life, context.Context) (mended, error)
}

// mended errs as long as a thing is not as it must be.
type mended func(context.Context) error

// disturbances are what happens to Tenants that are Ready: somebody's harm, and
// changes that are asked for.
var disturbances = []disturbance{
	{"delete the StatefulSet", remade(func(n names) client.Object { return &appsv1.StatefulSet{ObjectMeta: n.release} })},
	{"scale the StatefulSet to zero", (*life).scaleToZero},
	{"delete the Service", remade(func(n names) client.Object { return &corev1.Service{ObjectMeta: n.release} })},
	{"delete the published kubeconfig", remade(func(n names) client.Object { return &corev1.Secret{ObjectMeta: n.published} })},
	{"edit the published kubeconfig", (*life).editPublished},
	{"delete the exported kubeconfig", (*life).deleteExported},
	{"delete the ResourceQuota", remade(func(n names) client.Object { return &corev1.ResourceQuota{ObjectMeta: n.wall} })},
	{"delete the LimitRange", remade(func(n names) client.Object { return &corev1.LimitRange{ObjectMeta: n.wall} })},
	{"edit the ResourceQuota", (*life).editWall},
	{"delete the NetworkPolicies", (*life).deletePolicies},
	{"edit the namespace's labels", (*life).editLabels},
	{"delete the control plane's pod", remade(func(n names) client.Object { return &corev1.Pod{ObjectMeta: n.pod} })},
	{"delete the host namespace", remade(func(n names) client.Object { return &corev1.Namespace{ObjectMeta: n.namespace} })},
	{"delete the inner quota", (*life).deleteInnerQuota},
	{"change the quota", (*life).changeQuota},
	{"change the quota", (*life).changeQuota},
	{"change the values", (*life).changeValues},
	{"change the values", (*life).changeValues},
	{"pause", (*life).pauseAndHarm},
	{"retry now", (*life).retryNow},
}

// deck gives all disturbances in a random order, and then again in another.
type deck struct {
	rand *rand.Rand
	left []int
}

func (d *deck) next() disturbance {
	if len(d.left) == 0 {
		d.left = d.rand.Perm(len(disturbances))
	}

	n := d.left[0]
	d.left = d.left[1:]

	return disturbances[n]
}

// disturb the Tenant, and wait until it is right again if that is asked for.
func (l *life) disturb(ctx context.Context, d disturbance, await bool) bool {
	again, err := d.do(l, ctx)

	switch {
	case kerrors.IsNotFound(err), kerrors.IsConflict(err):
		l.soak.diary.say("%s: cannot %s just now", l.tenant.Name, d.name)

		return l.settle(ctx, "nothing", nil)
	case err != nil:
		l.wrong(ctx, "cannot "+d.name, err)

		return false
	}

	l.soak.diary.operation(d.name, l.tenant.Name)

	return !await || l.settle(ctx, d.name, again)
}

// names of what is made for a Tenant.
type names struct{ release, pod, exported, published, wall, namespace metav1.ObjectMeta }

func namesOf(t *v1alpha1.Tenant) names {
	release := vcluster.ReleaseName(t.Spec.TenantName)
	in := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespaceOf(t), Name: name}
	}

	return names{
		release: in(release), pod: in(release + "-0"), exported: in(vcluster.ExportedSecretName(release)), wall: in(wallName),
		published: metav1.ObjectMeta{Namespace: t.GetNamespace(), Name: vcluster.KubeconfigSecretName(t.Spec.CloudSpaceID)},
		namespace: metav1.ObjectMeta{Name: namespaceOf(t)},
	}
}

func namespaceOf(t *v1alpha1.Tenant) string { return vcluster.HostNamespace(t.Spec.TenantName) }

// remade deletes an object, which must be made again.
func remade(which func(names) client.Object) func(*life, context.Context) (mended, error) {
	return func(l *life, ctx context.Context) (mended, error) {
		return l.delete(ctx, which(namesOf(l.tenant)))
	}
}

func (l *life) delete(ctx context.Context, o client.Object) (mended, error) {
	key := client.ObjectKeyFromObject(o)
	if err := l.soak.cluster.Client.Get(ctx, key, o); err != nil {
		return nil, err
	}

	was := o.GetUID()
	if err := l.soak.cluster.Client.Delete(ctx, o); err != nil {
		return nil, err
	}

	return func(ctx context.Context) error {
		err := l.soak.cluster.Client.Get(ctx, key, o)
		if err == nil && (o.GetUID() == was || o.GetDeletionTimestamp() != nil) {
			err = fmt.Errorf("%T %s is not made again", o, key)
		}

		return err
	}, nil
}

// edit an object, which must become as it was by what look returns of it.
func edit[T client.Object](ctx context.Context, l *life, o T, change func(T), look func(T) any) (mended, error) {
	key := client.ObjectKeyFromObject(o)
	if err := l.soak.cluster.Client.Get(ctx, key, o); err != nil {
		return nil, err
	}

	was, _ := o.DeepCopyObject().(T) // It is what was copied.
	change(o)

	if err := l.soak.cluster.Client.Update(ctx, o); err != nil {
		return nil, err
	}

	return func(ctx context.Context) error {
		err := l.soak.cluster.Client.Get(ctx, key, o)
		if err == nil && !equality.Semantic.DeepEqual(look(was), look(o)) {
			err = fmt.Errorf("%T %s is not as it was", o, key)
		}

		return err
	}, nil
}

// deleteExported deletes what vCluster exports when it starts, and restarts it.
func (l *life) deleteExported(ctx context.Context) (mended, error) {
	again, err := l.delete(ctx, &corev1.Secret{ObjectMeta: namesOf(l.tenant).exported})
	if err == nil {
		_, err = l.delete(ctx, &corev1.Pod{ObjectMeta: namesOf(l.tenant).pod})
	}

	return again, err
}

func (l *life) scaleToZero(ctx context.Context) (mended, error) {
	return edit(ctx, l, &appsv1.StatefulSet{ObjectMeta: namesOf(l.tenant).release},
		func(s *appsv1.StatefulSet) { s.Spec.Replicas = ptr.To[int32](0) },
		func(s *appsv1.StatefulSet) any { return *s.Spec.Replicas })
}

func (l *life) editPublished(ctx context.Context) (mended, error) {
	return edit(ctx, l, &corev1.Secret{ObjectMeta: namesOf(l.tenant).published},
		func(s *corev1.Secret) { s.Data["kubeconfig"], s.Labels = []byte("nonsense"), nil },
		func(s *corev1.Secret) any { return s.Labels })
}

func (l *life) editWall(ctx context.Context) (mended, error) {
	return edit(ctx, l, &corev1.ResourceQuota{ObjectMeta: namesOf(l.tenant).wall},
		func(q *corev1.ResourceQuota) { q.Spec.Hard[corev1.ResourceLimitsCPU] = resource.MustParse("1k") },
		func(q *corev1.ResourceQuota) any { return q.Spec.Hard })
}

// editLabels takes off all that the provider puts on, but for whose the namespace is.
func (l *life) editLabels(ctx context.Context) (mended, error) {
	ours := func(n *corev1.Namespace) map[string]string {
		out := map[string]string{}

		for k, v := range n.Labels {
			if k != v1alpha1.LabelTenantUID && (strings.HasPrefix(k, "kubeopera.io/") || strings.HasPrefix(k, "pod-security.kubernetes.io/")) {
				out[k] = v
			}
		}

		return out
	}

	return edit(ctx, l, &corev1.Namespace{ObjectMeta: namesOf(l.tenant).namespace}, func(n *corev1.Namespace) {
		for k := range ours(n) {
			delete(n.Labels, k)
		}
	}, func(n *corev1.Namespace) any { return ours(n) })
}

func (l *life) deletePolicies(ctx context.Context) (mended, error) {
	all := &networkingv1.NetworkPolicyList{}
	if err := l.soak.cluster.Client.List(ctx, all, client.InNamespace(namespaceOf(l.tenant)), client.HasLabels{v1alpha1.LabelTenantUID}); err != nil {
		return nil, err
	}

	if len(all.Items) == 0 {
		return nil, errors.New("a Tenant that is Ready has no NetworkPolicy")
	}

	var every []mended

	for i := range all.Items {
		one, err := l.delete(ctx, &all.Items[i])
		if err != nil {
			return nil, err
		}

		every = append(every, one)
	}

	return func(ctx context.Context) error {
		var errs []error
		for _, one := range every {
			errs = append(errs, one(ctx))
		}

		return errors.Join(errs...)
	}, nil
}

// deleteInnerQuota does what a tenant can do: remove the quota inside.
func (l *life) deleteInnerQuota(ctx context.Context) (mended, error) {
	kubeconfig, err := l.soak.kubeconfig(ctx, l.tenant)
	if err != nil {
		return nil, err
	}

	var was map[string]bool

	err = rig.Inside(ctx, kubeconfig, func(ctx context.Context, k kubernetes.Interface) error {
		if was, err = innerQuotas(ctx, k); err != nil {
			return err
		}

		return k.CoreV1().ResourceQuotas(metav1.NamespaceDefault).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	})
	if err != nil {
		return nil, err
	}

	return func(ctx context.Context) error {
		kubeconfig, err := l.soak.kubeconfig(ctx, l.tenant)
		if err != nil {
			return err
		}

		return rig.Inside(ctx, kubeconfig, func(ctx context.Context, k kubernetes.Interface) error {
			now, err := innerQuotas(ctx, k)
			for uid := range now {
				if !was[uid] {
					return nil
				}
			}

			return errors.Join(err, errors.New("the inner quota is not restored"))
		})
	}, nil
}

// innerQuotas are the UIDs of the quotas inside.
func innerQuotas(ctx context.Context, k kubernetes.Interface) (map[string]bool, error) {
	all, err := k.CoreV1().ResourceQuotas(metav1.NamespaceDefault).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}

	out := map[string]bool{}
	for i := range all.Items {
		out[string(all.Items[i].GetUID())] = true
	}

	return out, nil
}
