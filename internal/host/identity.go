// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxID bounds a cluster's id, which the cluster itself tells.
const maxID = 63

// ClusterID is the UID of the namespace kube-system, by which clusters are customarily
// told apart: no API server lets go of that namespace.
func ClusterID(ctx context.Context, r client.Reader) (string, error) {
	ns := &corev1.Namespace{}
	if err := r.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, ns); err != nil {
		return "", fmt.Errorf("cannot read namespace %q, which tells the host cluster from others: %w", metav1.NamespaceSystem, err)
	}

	id := string(ns.GetUID())
	if id == "" || len(id) > maxID {
		return "", fmt.Errorf("cannot tell the host cluster from others: the UID of its namespace %q has %d characters, want 1 to %d",
			metav1.NamespaceSystem, len(id), maxID)
	}

	return id, nil
}

// ClusterID is that of the host as it was when it was first asked.
func (h *Host) ClusterID(ctx context.Context) (string, error) {
	if id := h.id.Load(); id != nil {
		return *id, nil
	}

	id, err := ClusterID(ctx, h.Live)
	if err != nil {
		return "", err
	}

	h.id.Store(&id)

	return id, nil
}
