// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/metadata"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// Leftovers lists everything in the cluster that is still there of a Tenant: of
// every kind that the API server serves, whatever is in its host namespace,
// carries its name or id, or is owned by it. Events are none: they are history.
func (c *Cluster) Leftovers(ctx context.Context, t *v1alpha1.Tenant) ([]string, error) {
	out, err := c.claimedVolumes(ctx, t)
	if err != nil {
		return nil, err
	}

	all, err := c.inventory(ctx)
	if err != nil {
		return nil, err
	}

	for _, o := range all {
		if isOf(t, &o) {
			out = append(out, o.String())
		}
	}

	slices.Sort(out)

	return slices.Compact(out), nil
}

// Inventory lists every object in the cluster, but for events, by its kind and name.
func (c *Cluster) Inventory(ctx context.Context) ([]string, error) {
	all, err := c.inventory(ctx)
	if err != nil {
		return nil, err
	}

	var out []string
	for _, o := range all {
		out = append(out, o.String())
	}

	slices.Sort(out)

	return slices.Compact(out), nil
}

// item is an object of the cluster.
type item struct {
	metav1.PartialObjectMetadata

	resource string
}

// String is its kind and its name.
func (i item) String() string {
	return fmt.Sprintf("%s %s/%s", i.resource, i.GetNamespace(), i.GetName())
}

func (c *Cluster) inventory(ctx context.Context) ([]item, error) {
	kinds, err := c.listable()
	if err != nil {
		return nil, err
	}

	m, err := metadata.NewForConfig(c.Config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a metadata client: %w", err)
	}

	var out []item

	for _, k := range kinds {
		l, err := m.Resource(k).List(ctx, metav1.ListOptions{})
		if kerrors.IsNotFound(err) || kerrors.IsMethodNotSupported(err) {
			continue
		}

		if err != nil {
			return nil, fmt.Errorf("cannot list %s: %w", k.Resource, err)
		}

		for _, o := range l.Items {
			out = append(out, item{PartialObjectMetadata: o, resource: k.Resource})
		}
	}

	return out, nil
}

// Remaining lists what no suite may leave: objects of the provider's kinds, and
// volumes.
func (c *Cluster) Remaining(ctx context.Context) ([]string, error) {
	var out []string

	for _, l := range []client.ObjectList{
		&v1alpha1.TenantList{}, &v1alpha1.AdvisorAgentList{}, &v1alpha1.TenantQuotaList{}, &v1alpha1.ProviderConfigUsageList{}, &corev1.PersistentVolumeList{},
	} {
		if err := c.Client.List(ctx, l); err != nil {
			return nil, fmt.Errorf("cannot list %T: %w", l, err)
		}

		err := meta.EachListItem(l, func(o runtime.Object) error {
			m, err := meta.Accessor(o)
			if err == nil {
				out = append(out, fmt.Sprintf("%T %s/%s", o, m.GetNamespace(), m.GetName()))
			}

			return err
		})
		if err != nil {
			return nil, fmt.Errorf("cannot read %T: %w", l, err)
		}
	}

	return out, nil
}

// listable are the resources that the API server serves, one version of each.
func (c *Cluster) listable() ([]schema.GroupVersionResource, error) {
	d, err := discovery.NewDiscoveryClientForConfig(c.Config)
	if err != nil {
		return nil, fmt.Errorf("cannot make a discovery client: %w", err)
	}

	lists, err := d.ServerPreferredResources()
	if err != nil {
		return nil, fmt.Errorf("cannot discover the cluster's kinds: %w", err)
	}

	var out []schema.GroupVersionResource

	for _, l := range lists {
		gv, err := schema.ParseGroupVersion(l.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("cannot read the group %q: %w", l.GroupVersion, err)
		}

		for _, r := range l.APIResources {
			if slices.Contains(r.Verbs, "list") && r.Name != "events" {
				out = append(out, gv.WithResource(r.Name))
			}
		}
	}

	return out, nil
}

func isOf(t *v1alpha1.Tenant, o metav1.Object) bool {
	if o.GetNamespace() == vcluster.HostNamespace(t.Spec.TenantName) {
		return true
	}

	words := []string{o.GetName()}
	for _, v := range o.GetLabels() {
		words = append(words, v)
	}

	for _, v := range o.GetAnnotations() {
		words = append(words, v)
	}

	for _, r := range o.GetOwnerReferences() {
		words = append(words, string(r.UID))
	}

	ids := []string{t.Spec.TenantName, t.Spec.CloudSpaceID, string(t.GetUID())}

	return slices.ContainsFunc(words, func(w string) bool {
		return slices.ContainsFunc(ids, func(id string) bool { return id != "" && strings.Contains(w, id) })
	})
}

// claimedVolumes are the volumes whose claim is or was in the Tenant's host
// namespace: their metadata does not say so.
func (c *Cluster) claimedVolumes(ctx context.Context, t *v1alpha1.Tenant) ([]string, error) {
	all, err := c.Volumes(ctx, t)
	if err != nil {
		return nil, err
	}

	var out []string
	for i := range all {
		out = append(out, "persistentvolumes /"+all[i].GetName())
	}

	return out, nil
}

// Volumes are the PersistentVolumes that were made for claims in the Tenant's
// host namespace.
func (c *Cluster) Volumes(ctx context.Context, t *v1alpha1.Tenant) ([]corev1.PersistentVolume, error) {
	all := &corev1.PersistentVolumeList{}
	if err := c.Client.List(ctx, all); err != nil {
		return nil, fmt.Errorf("cannot list PersistentVolumes: %w", err)
	}

	return slices.DeleteFunc(all.Items, func(v corev1.PersistentVolume) bool {
		return v.Spec.ClaimRef == nil || v.Spec.ClaimRef.Namespace != vcluster.HostNamespace(t.Spec.TenantName)
	}), nil
}
