// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/host"
)

// errConflict says that a name or id is someone else's. Nothing of theirs is touched.
var errConflict = errors.New("conflict")

// IndexCloudSpaceID is the field by which the cache finds the Tenants of all
// namespaces by their cloudSpaceID. Setup adds it.
const IndexCloudSpaceID = "spec.cloudSpaceID"

func cloudSpaceIDOf(o client.Object) []string {
	t, ok := o.(*v1alpha1.Tenant)
	if !ok {
		return nil
	}

	return []string{t.Spec.CloudSpaceID}
}

// foreignNamespace names the owner of a host namespace that is not the Tenant's.
func foreignNamespace(t *v1alpha1.Tenant, ns *corev1.Namespace) error {
	owner := "it was not made by this provider"

	switch o, ok := host.TenantOf(ns); {
	case ok && o == client.ObjectKeyFromObject(t):
		return fmt.Errorf("%w: namespace %q on the host cluster is left from an earlier Tenant of this name; to take it over set its label %s to %q, or delete it",
			errConflict, ns.GetName(), v1alpha1.LabelTenantUID, t.GetUID())
	case ok:
		owner = fmt.Sprintf("it belongs to Tenant %q", o)
	}

	return fmt.Errorf("%w: tenantName %q cannot be used, since namespace %q exists on the host cluster and %s; delete this Tenant and create one with another tenantName",
		errConflict, t.Spec.TenantName, ns.GetName(), owner)
}

func takenID(t *v1alpha1.Tenant, by string) error {
	return fmt.Errorf("%w: cloudSpaceID %q is taken by Tenant %q; delete this Tenant and create one with a cloudSpaceID of its own",
		errConflict, t.Spec.CloudSpaceID, by)
}

// checkIdentity errs with errConflict when the Tenant's names belong to another.
// Who has a namespace on a host already is never the one that is refused for a
// newcomer: ns is the namespace of the Tenant's name, or nil.
func (e *external) checkIdentity(ctx context.Context, t *v1alpha1.Tenant, ns *corev1.Namespace) error {
	if ns != nil && !owns(t, ns) {
		return foreignNamespace(t, ns)
	}

	holders := &corev1.NamespaceList{}
	if err := e.cached.List(ctx, holders, client.MatchingLabels{v1alpha1.LabelTenantID: t.Spec.CloudSpaceID}); err != nil {
		return fmt.Errorf("cannot list the namespaces of cloudSpaceID %q on the host cluster: %w", t.Spec.CloudSpaceID, err)
	}

	for i := range holders.Items {
		o := &holders.Items[i]
		if owns(t, o) || (ns != nil && !older(o, ns)) {
			continue
		}

		// The cache may still have that of a Tenant that is gone.
		if still, err := e.liveNamespace(ctx, o.GetName()); err != nil {
			return err
		} else if still == nil {
			continue
		}

		owner, ok := host.TenantOf(o)
		if !ok {
			return fmt.Errorf("%w: cloudSpaceID %q is taken by namespace %q on the host cluster, which names no Tenant", errConflict, t.Spec.CloudSpaceID, o.GetName())
		}

		return takenID(t, owner.String())
	}

	if ns != nil {
		return nil
	}

	return e.checkNewcomers(ctx, t)
}

// checkNewcomers refuses the younger of two Tenants of which neither has a namespace yet.
func (e *external) checkNewcomers(ctx context.Context, t *v1alpha1.Tenant) error {
	same := &v1alpha1.TenantList{}
	if err := e.kube.List(ctx, same, client.MatchingFields{IndexCloudSpaceID: t.Spec.CloudSpaceID}); err != nil {
		return fmt.Errorf("cannot list the Tenants of cloudSpaceID %q: %w", t.Spec.CloudSpaceID, err)
	}

	for i := range same.Items {
		o := &same.Items[i]
		if o.GetUID() != t.GetUID() && older(o, t) {
			return takenID(t, client.ObjectKeyFromObject(o).String())
		}
	}

	return nil
}

// older orders objects by their age, and those of the same second by their UID.
func older(a, b client.Object) bool {
	at, bt := a.GetCreationTimestamp(), b.GetCreationTimestamp()
	if !at.Equal(&bt) {
		return at.Before(&bt)
	}

	return a.GetUID() < b.GetUID()
}
