// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// What an object inside a vCluster says of who keeps it.
const (
	// LabelOwnerUID carries the UID of the AdvisorAgent or TenantQuota.
	LabelOwnerUID = "kubeopera.io/owner-uid"
	// AnnotationOwner carries it as namespace/name, for people.
	AnnotationOwner = "kubeopera.io/owner"
)

// ErrConflict says that something inside a vCluster is someone else's. Nothing of
// theirs is touched.
var ErrConflict = errors.New("conflict")

// Owner is an AdvisorAgent or a TenantQuota that keeps objects inside the vCluster
// of a Tenant.
type Owner struct {
	of     resource.Managed
	tenant *v1alpha1.Tenant
}

// OwnerOf makes mg the owner of objects inside the vCluster of t.
func OwnerOf(mg resource.Managed, t *v1alpha1.Tenant) Owner { return Owner{of: mg, tenant: t} }

// Provide marks o as made by this provider for the Tenant, and as nobody's.
func (o Owner) Provide(obj metav1.Object) {
	obj.SetLabels(merged(obj.GetLabels(), map[string]string{
		v1alpha1.LabelManagedBy: v1alpha1.ManagedBy,
		v1alpha1.LabelTenantID:  o.tenant.Spec.CloudSpaceID,
	}))
}

// Stamp marks o as the owner's.
func (o Owner) Stamp(obj metav1.Object) {
	o.Provide(obj)
	obj.SetLabels(merged(obj.GetLabels(), map[string]string{LabelOwnerUID: string(o.of.GetUID())}))
	obj.SetAnnotations(merged(obj.GetAnnotations(), map[string]string{AnnotationOwner: client.ObjectKeyFromObject(o.of).String()}))
}

func merged(have, more map[string]string) map[string]string {
	out := maps.Clone(more)
	for k, v := range have {
		if _, ok := out[k]; !ok {
			out[k] = v
		}
	}

	return out
}

// Owns says whether the object carries the owner's UID.
func (o Owner) Owns(obj metav1.Object) bool {
	return obj.GetLabels()[LabelOwnerUID] == string(o.of.GetUID())
}

// Remains are those of what was found that are the owner's, last first.
func (o Owner) Remains(found []Found) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured

	for _, f := range slices.Backward(found) {
		if f.Live != nil && o.Owns(f.Live) {
			out = append(out, f.Live)
		}
	}

	return out
}

// Made finds what the owner has made of that name in any namespace, kind by kind
// and sorted by namespace. The kinds are of the core group.
func (o Owner) Made(ctx context.Context, c client.Reader, name string, kinds ...string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured

	for _, kind := range kinds {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind + "List"))

		if err := c.List(ctx, l, client.MatchingLabels{LabelOwnerUID: string(o.of.GetUID())}); err != nil {
			return nil, Explained(fmt.Errorf("cannot list %s objects inside the vCluster: %w", kind, err))
		}

		slices.SortFunc(l.Items, func(a, b unstructured.Unstructured) int { return cmp.Compare(a.GetNamespace(), b.GetNamespace()) })

		for i := range l.Items {
			if l.Items[i].GetName() == name {
				out = append(out, &l.Items[i])
			}
		}
	}

	return out, nil
}

// Check errs with [ErrConflict] for the first object that was found and may not be
// written: it belongs to another of the owner's kind that still exists, or was
// not made by this provider. In a namespace that is the owner's own, only the
// former counts. The list is of the owner's kind; c reads past the cache, which
// may not have one that exists.
func (o Owner) Check(ctx context.Context, c client.Reader, l resource.ManagedList, found []Found) error {
	others := sync.OnceValues(func() ([]resource.Managed, error) { return o.others(ctx, c, l) })

	own := map[string]bool{} // Namespaces, by their names.

	for _, f := range found {
		if f.Live != nil && !o.Owns(f.Live) {
			uid := types.UID(f.Live.GetLabels()[LabelOwnerUID])
			if uid == "" && !isProvided(f.Live) && !own[f.Live.GetNamespace()] {
				return fmt.Errorf("%w: %s was not made by this provider; delete it there or, to hand it over for good, set its label %s to %s",
					ErrConflict, f.Want, v1alpha1.LabelManagedBy, v1alpha1.ManagedBy)
			}

			if uid != "" {
				if err := checkOther(f, uid, others); err != nil {
					return err
				}
			}
		}

		if f.Want.GetKind() == kindNamespace {
			own[f.Want.GetName()] = true
		}
	}

	return nil
}

// checkOther errs if what was found belongs to one of the others.
func checkOther(f Found, uid types.UID, others func() ([]resource.Managed, error)) error {
	all, err := others()
	if err != nil {
		return err
	}

	for _, mg := range all {
		if mg.GetUID() == uid {
			return fmt.Errorf("%w: %s belongs to %s %q; delete that one, or this", ErrConflict, f.Want, KindOf(mg), client.ObjectKeyFromObject(mg))
		}
	}

	return nil
}

// HasSuccessor says whether another of the owner's kind refers to the same Tenant, and
// neither of these is being deleted: what the owner leaves is taken over. The list is
// of the owner's kind; c reads past the cache.
func (o Owner) HasSuccessor(ctx context.Context, c client.Reader, l resource.ManagedList) (bool, error) {
	if meta.WasDeleted(o.tenant) {
		return false, nil
	}

	others, err := o.others(ctx, c, l)

	return slices.ContainsFunc(others, func(mg resource.Managed) bool { return !meta.WasDeleted(mg) }), err
}

// isProvided says whether this provider has made the object, for whomever.
func isProvided(obj metav1.Object) bool {
	return obj.GetLabels()[v1alpha1.LabelManagedBy] == v1alpha1.ManagedBy
}

// others are the other objects of the owner's kind that refer to the same Tenant.
// An API server knows no index.
func (o Owner) others(ctx context.Context, c client.Reader, l resource.ManagedList) ([]resource.Managed, error) {
	if err := c.List(ctx, l, client.InNamespace(o.of.GetNamespace())); err != nil {
		return nil, fmt.Errorf("cannot list what refers to Tenant %q: %w", o.tenant.GetName(), err)
	}

	var out []resource.Managed

	for _, mg := range l.GetItems() {
		if t, _ := TenantOf(mg); mg.GetUID() != o.of.GetUID() && t == client.ObjectKeyFromObject(o.tenant) {
			out = append(out, mg)
		}
	}

	return out, nil
}
