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
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
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

// foreignNamespace says that a namespace turned out not to be the Tenant's. The next
// pass says whose it is.
func foreignNamespace(ns *corev1.Namespace) error {
	return fmt.Errorf("%w: namespace %q on the host cluster is not this Tenant's", errConflict, ns.GetName())
}

func takenID(t *v1alpha1.Tenant, by string) error {
	return fmt.Errorf("%w: cloudSpaceID %q is taken by Tenant %q; delete this Tenant and create one with a cloudSpaceID of its own",
		errConflict, t.Spec.CloudSpaceID, by)
}

// checkIdentity errs with errConflict when the Tenant's names belong to another.
// Who has a namespace on a host already is never the one that is refused for a
// newcomer: ns is the namespace of the Tenant's name, or nil. One that is not its own
// gives it no claim.
func (e *external) checkIdentity(ctx context.Context, t *v1alpha1.Tenant, ns *corev1.Namespace) error {
	mine := ns != nil && owns(t, ns)

	if !mine {
		if err := e.checkForeign(ctx, t, ns); err != nil {
			return err
		}
	}

	holders := &corev1.NamespaceList{}
	if err := e.cached.List(ctx, holders, client.MatchingFields{host.IndexTenantID: t.Spec.CloudSpaceID}); err != nil {
		return fmt.Errorf("cannot list the namespaces of cloudSpaceID %q on the host cluster: %w", t.Spec.CloudSpaceID, err)
	}

	for i := range holders.Items {
		o := &holders.Items[i]
		if owns(t, o) || o.GetName() == e.names.namespace || (mine && !older(o, ns)) {
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

	if mine {
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
		// Who only looks makes no CloudSpace.
		if o.GetUID() != t.GetUID() && older(o, t) && !reconciler.PoliciesOf(o).LooksOnly() {
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
