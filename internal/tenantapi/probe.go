// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantapi

import (
	"context"
	"errors"
	"net"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// probeTimeout bounds the question to a tenant's API.
const probeTimeout = 5 * time.Second

func probe(ctx context.Context, c client.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()

	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))

	return Steady(c.Get(ctx, client.ObjectKey{Name: metav1.NamespaceDefault}, ns))
}

// Steady takes the local port out of a network error, which would make each
// repetition of the same error another message.
func Steady(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		op.Source = nil
	}

	return err
}
