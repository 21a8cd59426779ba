// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/host"
)

// checkHost errs with errUnseenHost when the host cluster that is reached is another
// than the Tenant lives on: what is there, and what is not, says nothing of the Tenant
// then. ns is the namespace of its name there, or nil. One that is the Tenant's shows
// where it lives. Where it has none, the cluster is asked anew which it is, since its
// address may have come to lead to another.
func (e *external) checkHost(ctx context.Context, t *v1alpha1.Tenant, ns *corev1.Namespace) error {
	mine := ns != nil && owns(t, ns)

	ask := e.clusterID
	if !mine {
		ask = func(ctx context.Context) (string, error) { return host.ClusterID(ctx, e.live) }
	}

	id, err := ask(ctx)
	if err != nil {
		return err
	}

	if lives := t.Status.HostClusterID; lives != "" && lives != id {
		return otherHost(t, id)
	}

	e.hostID = id
	if mine {
		t.Status.HostClusterID = id
	}

	return nil
}

// otherHost says that the cluster of that id is reached in the place of the Tenant's.
func otherHost(t *v1alpha1.Tenant, id string) error {
	ref := t.GetProviderConfigReference()

	return fmt.Errorf("%w: %s %q leads to cluster %q, but this Tenant lives on cluster %q (the UIDs of their namespaces kube-system) and cannot move; "+
		"restore the credentials of that one, or delete the Tenant if it is gone for good", errUnseenHost, ref.Kind, ref.Name, id, t.Status.HostClusterID)
}
