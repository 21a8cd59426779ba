// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/quota"
)

// wallName is the name of the ResourceQuota and of the LimitRange in a host namespace.
const wallName = "kubeopera-tenant"

// boundary is a Tenant's host namespace and the wall around it, as they are.
// What is nil is absent.
type boundary struct {
	namespace *corev1.Namespace
	quota     *corev1.ResourceQuota
	limits    *corev1.LimitRange
	// policies by their names.
	policies map[string]*networkingv1.NetworkPolicy
}

// wall is the ResourceQuota's, as it is.
func (b boundary) wall() corev1.ResourceQuotaSpec {
	if b.quota == nil {
		return corev1.ResourceQuotaSpec{}
	}

	return b.quota.Spec
}

// readBoundary finds the namespace, whoever owns it, and what is in it.
func (e *external) readBoundary(ctx context.Context, t *v1alpha1.Tenant) (boundary, error) {
	var b boundary

	ns := &corev1.Namespace{}
	if ok, err := e.find(ctx, types.NamespacedName{Name: e.names.namespace}, ns); err != nil || !ok {
		return b, err
	}

	if !owns(t, ns) {
		// The cache may still have that of an earlier Tenant of the name.
		var err error
		if ns, err = e.liveNamespace(ctx, ns.GetName()); err != nil || ns == nil {
			return b, err
		}
	}

	b.namespace = ns
	key := types.NamespacedName{Namespace: e.names.namespace, Name: wallName}

	q := &corev1.ResourceQuota{}
	if ok, err := e.find(ctx, key, q); err != nil {
		return b, err
	} else if ok {
		b.quota = q
	}

	l := &corev1.LimitRange{}
	if ok, err := e.find(ctx, key, l); err != nil {
		return b, err
	} else if ok {
		b.limits = l
	}

	if reconciler.PoliciesOf(t).LooksOnly() {
		return b, nil
	}

	var err error
	b.policies, err = e.readPolicies(ctx)

	return b, err
}

// find reads an object of a watched kind from the cache, and from the API server
// when the cache has none: it holds only what carries our labels, and may lag.
func (e *external) find(ctx context.Context, key types.NamespacedName, o client.Object) (bool, error) {
	err := e.cached.Get(ctx, key, o)
	if kerrors.IsNotFound(err) {
		err = e.live.Get(ctx, key, o)
	}

	if kerrors.IsNotFound(err) {
		return false, nil
	}

	if err != nil {
		return false, fmt.Errorf("cannot read %T %q on the host cluster: %w", o, key.Name, err)
	}

	return true, nil
}

// liveNamespace reads a namespace at the API server; nil when there is none.
func (e *external) liveNamespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	ns := &corev1.Namespace{}

	switch err := e.live.Get(ctx, client.ObjectKey{Name: name}, ns); {
	case kerrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot read namespace %q on the host cluster: %w", name, err)
	default:
		return ns, nil
	}
}

// owns says whether the object carries the Tenant's UID.
func owns(t *v1alpha1.Tenant, o client.Object) bool {
	return o.GetLabels()[v1alpha1.LabelTenantUID] == string(t.GetUID())
}

// stamp says whose an object on the host is.
func (e *external) stamp(t *v1alpha1.Tenant, o client.Object) {
	l := o.GetLabels()
	if l == nil {
		l = map[string]string{}
	}

	l[v1alpha1.LabelManagedBy] = v1alpha1.ManagedBy
	l[v1alpha1.LabelTenantID] = t.Spec.CloudSpaceID
	l[v1alpha1.LabelTenantUID] = string(t.GetUID())
	l[v1alpha1.LabelUserID] = t.Spec.UserID
	l[v1alpha1.LabelTenantName] = t.Spec.TenantName

	if e.defaults.environment != "" {
		l[v1alpha1.LabelEnvironment] = e.defaults.environment
	}

	o.SetLabels(l)

	a := o.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}

	a[v1alpha1.AnnotationTenant] = t.GetNamespace() + "/" + t.GetName()
	o.SetAnnotations(a)
}

// stamped says whether o carries all that stamp would write.
func (e *external) stamped(t *v1alpha1.Tenant, o client.Object) bool {
	want := &metav1.PartialObjectMetadata{}
	e.stamp(t, want)

	return contains(o.GetLabels(), want.Labels) && contains(o.GetAnnotations(), want.Annotations)
}

func contains(have, want map[string]string) bool {
	merged := maps.Clone(have)
	if merged == nil {
		merged = map[string]string{}
	}

	maps.Copy(merged, want)

	return maps.Equal(have, merged)
}

// isRight says whether nothing of the boundary must change, but for its isolation.
func (e *external) isRight(t *v1alpha1.Tenant, b boundary, wall corev1.ResourceQuotaSpec) bool {
	return b.namespace != nil && b.quota != nil && b.limits != nil &&
		e.stamped(t, b.namespace) && e.stamped(t, b.quota) && e.stamped(t, b.limits) &&
		equality.Semantic.DeepEqual(b.quota.Spec, wall) &&
		equality.Semantic.DeepEqual(b.limits.Spec, quota.LimitRange())
}

// makeBoundary creates or repairs the namespace and then what is in it. Of a spec that
// cannot become a release, it is not known what the wall should be.
func (e *external) makeBoundary(ctx context.Context, t *v1alpha1.Tenant, f *facts) error {
	if err := e.makeNamespace(ctx, t, f.isolation.labels); err != nil {
		return err
	}

	t.Status.HostClusterID = e.hostID

	if !f.right && f.invalid == nil {
		if err := e.makeWall(ctx, t, f.boundary, f.wall); err != nil {
			return err
		}
	}

	return e.makePolicies(ctx, t, f.boundary, f.isolation.policies)
}

// makeWall writes the LimitRange first: a quota alone refuses the vCluster's own pods.
func (e *external) makeWall(ctx context.Context, t *v1alpha1.Tenant, b boundary, wall corev1.ResourceQuotaSpec) error {
	in := metav1.ObjectMeta{Namespace: e.names.namespace, Name: wallName}

	limits := &corev1.LimitRange{ObjectMeta: in}
	if err := createOr(ctx, controllerutil.CreateOrPatch, b.limits == nil, e.live, limits, func() error {
		e.stamp(t, limits)
		limits.Spec = quota.LimitRange()

		return nil
	}); err != nil {
		return fmt.Errorf("cannot write the LimitRange %q of namespace %q: %w", wallName, e.names.namespace, err)
	}

	hard := &corev1.ResourceQuota{ObjectMeta: in}
	if err := createOr(ctx, controllerutil.CreateOrPatch, b.quota == nil, e.live, hard, func() error {
		e.stamp(t, hard)
		hard.Spec = wall

		return nil
	}); err != nil {
		return fmt.Errorf("cannot write the ResourceQuota %q of namespace %q: %w", wallName, e.names.namespace, err)
	}

	return nil
}

// createOr writes o as mutate makes it, as [controllerutil.CreateOrPatch] and
// [controllerutil.CreateOrUpdate] do, of which change is one. What was seen absent is asked
// for only when it cannot be created. It is for kinds of Kubernetes itself: reading a custom
// resource leaves in o what mutate has set.
func createOr(ctx context.Context, change changeFn, absent bool, c client.Client, o client.Object, mutate controllerutil.MutateFn) error {
	if absent {
		if err := mutate(); err != nil {
			return err
		}

		if err := c.Create(ctx, o); !kerrors.IsAlreadyExists(err) {
			return err
		}
	}

	_, err := change(ctx, c, o, mutate)

	return err
}

type changeFn func(context.Context, client.Client, client.Object, controllerutil.MutateFn) (controllerutil.OperationResult, error)

// makeNamespace creates the namespace, or repairs its stamp and these labels when it
// is ours. The API server lets one of two creators win.
func (e *external) makeNamespace(ctx context.Context, t *v1alpha1.Tenant, labels map[string]string) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: e.names.namespace}}
	e.stamp(t, ns)
	maps.Copy(ns.Labels, labels)

	err := e.live.Create(ctx, ns)
	if err == nil {
		return nil
	}

	if !kerrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot create namespace %q on the host cluster: %w", ns.Name, err)
	}

	if err := e.live.Get(ctx, client.ObjectKeyFromObject(ns), ns); err != nil {
		return fmt.Errorf("cannot read namespace %q on the host cluster: %w", ns.Name, err)
	}

	if !owns(t, ns) {
		return foreignNamespace(ns)
	}

	if e.stamped(t, ns) && contains(ns.Labels, labels) {
		return nil
	}

	e.stamp(t, ns)
	maps.Copy(ns.Labels, labels)

	if err := e.live.Update(ctx, ns); err != nil {
		return fmt.Errorf("cannot repair the labels of namespace %q on the host cluster: %w", ns.Name, err)
	}

	return nil
}
