// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// remains are what is left of a Tenant that is being deleted, in the order in
// which it goes.
type remains struct {
	inside    insideRemains
	release   *helm.Release
	namespace *corev1.Namespace
	// foreign says that the namespace is there and another's.
	foreign bool
	// clusterScoped objects outlive the namespace.
	clusterScoped []client.Object
	// volumes go by themselves, once their claims are gone.
	volumes []corev1.PersistentVolume
	secret  *corev1.Secret
}

func (r remains) none() bool {
	return r.inside.none() && r.release == nil && r.namespace == nil && len(r.clusterScoped) == 0 && len(r.volumes) == 0 && r.secret == nil
}

// readRemains looks at the API server, never at a cache, for everything that the
// Tenant may have made. What belongs to someone else is none of it.
func (e *external) readRemains(ctx context.Context, t *v1alpha1.Tenant) (remains, error) {
	var r remains

	ns, err := e.liveNamespace(ctx, e.names.namespace)
	if err != nil {
		return r, notAnswered(err)
	}

	if err := e.checkHost(ctx, t, ns); err != nil {
		return r, err
	}

	r.foreign = ns != nil && !owns(t, ns)

	if !r.foreign {
		r.namespace = ns

		if err := e.readHostRemains(ctx, &r); err != nil {
			return r, err
		}
	}

	if r.inside, err = e.readInsideRemains(ctx, t, r); err != nil {
		return r, err
	}

	s, err := e.publishedSecret(ctx, t)
	if err != nil {
		return r, err
	}

	if s != nil && metav1.IsControlledBy(s, t) {
		r.secret = s
	}

	return r, nil
}

func (e *external) readHostRemains(ctx context.Context, r *remains) error {
	var err error

	r.release, err = e.helm.Get(ctx, e.names.release)
	if errors.Is(err, helm.ErrReleaseNotFound) {
		r.release, err = nil, nil
	}

	if err != nil {
		return fmt.Errorf("cannot read release %q: %w", e.names.release, err)
	}

	if r.clusterScoped, err = e.readClusterScoped(ctx); err != nil {
		return err
	}

	r.volumes, err = e.readVolumes(ctx)

	return err
}

// readClusterScoped finds the roles that the chart made for the release, and
// what the vCluster synced to the host outside its namespace.
func (e *external) readClusterScoped(ctx context.Context) ([]client.Object, error) {
	var out []client.Object

	for _, name := range vcluster.ClusterRoleNames(e.names.release, e.names.namespace) {
		for _, o := range []client.Object{&rbacv1.ClusterRoleBinding{}, &rbacv1.ClusterRole{}} {
			err := e.live.Get(ctx, client.ObjectKey{Name: name}, o)
			if client.IgnoreNotFound(err) != nil {
				return nil, fmt.Errorf("cannot read %T %q on the host cluster: %w", o, name, err)
			}

			if err == nil && contains(o.GetLabels(), vcluster.ControlPlaneLabels(e.names.release)) {
				out = append(out, o)
			}
		}
	}

	synced, err := e.readSynced(ctx)

	return append(out, synced...), err
}

// readSynced finds what the vCluster synced to the host outside its namespace.
func (e *external) readSynced(ctx context.Context) ([]client.Object, error) {
	of := client.MatchingLabels{vcluster.LabelSyncedBy: vcluster.ClusterSyncOwner(e.names.release, e.names.namespace)}

	priorities := &schedulingv1.PriorityClassList{}
	if err := e.live.List(ctx, priorities, of); err != nil {
		return nil, fmt.Errorf("cannot list PriorityClasses on the host cluster: %w", err)
	}

	classes := &storagev1.StorageClassList{}
	if err := e.live.List(ctx, classes, of); err != nil {
		return nil, fmt.Errorf("cannot list StorageClasses on the host cluster: %w", err)
	}

	out := make([]client.Object, 0, len(priorities.Items)+len(classes.Items))

	for i := range priorities.Items {
		out = append(out, &priorities.Items[i])
	}

	for i := range classes.Items {
		out = append(out, &classes.Items[i])
	}

	return out, nil
}

// readVolumes finds the volumes that were made for claims in the host namespace.
// Those that are to be kept are left out: they are meant to outlive the Tenant.
func (e *external) readVolumes(ctx context.Context) ([]corev1.PersistentVolume, error) {
	all := &corev1.PersistentVolumeList{}
	if err := e.live.List(ctx, all); err != nil {
		return nil, fmt.Errorf("cannot list PersistentVolumes on the host cluster: %w", err)
	}

	var out []corev1.PersistentVolume

	for i := range all.Items {
		v := &all.Items[i]
		if c := v.Spec.ClaimRef; c != nil && c.Namespace == e.names.namespace &&
			v.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
			out = append(out, *v)
		}
	}

	return out, nil
}

// describe says in words what the deletion waits for.
func (e *external) describe(ctx context.Context, r remains) string {
	switch {
	case !r.inside.none() && !r.inside.skip:
		return r.inside.describe()
	case r.release != nil:
		return fmt.Sprintf("waiting for release %q to be uninstalled", r.release.Name)
	case r.namespace != nil:
		return e.describeNamespace(ctx, r.namespace)
	case len(r.clusterScoped) > 0:
		return "waiting for " + listed(r.clusterScoped, e.live)
	case len(r.volumes) > 0:
		vs := make([]client.Object, len(r.volumes))
		for i := range r.volumes {
			vs[i] = &r.volumes[i]
		}

		return "waiting for " + listed(vs, e.live)
	case r.secret != nil:
		return fmt.Sprintf("waiting for Secret %q", r.secret.GetName())
	default:
		return "nothing is left"
	}
}

// listed names objects with what holds them.
func listed(objs []client.Object, c client.Client) string {
	words := make([]string, 0, len(objs))

	for _, o := range objs {
		gvk, err := c.GroupVersionKindFor(o)
		if err != nil {
			gvk = schema.GroupVersionKind{Kind: fmt.Sprintf("%T", o)}
		}

		words = append(words, named(gvk.Kind, o))
	}

	return strings.Join(words, "; ")
}

// named is an object in words, with its finalizers or else its state.
func named(kind string, o client.Object) string {
	switch f := o.GetFinalizers(); {
	case len(f) == 1:
		return fmt.Sprintf("%s %s, finalizer %s", kind, o.GetName(), f[0])
	case len(f) > 1:
		return fmt.Sprintf("%s %s, finalizers %s", kind, o.GetName(), strings.Join(f, ", "))
	case o.GetDeletionTimestamp() != nil:
		return fmt.Sprintf("%s %s, which is being deleted", kind, o.GetName())
	default:
		return fmt.Sprintf("%s %s", kind, o.GetName())
	}
}
