// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantapi

import (
	"context"
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// probeTimeout bounds the question to a tenant's API, unless a pool is told otherwise.
const probeTimeout = 5 * time.Second

func probe(ctx context.Context, c client.Reader) error {
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))

	return Steady(c.Get(ctx, client.ObjectKey{Name: metav1.NamespaceDefault}, ns))
}

// localAddress is the near end of a connection, whose port is another each time.
var localAddress = regexp.MustCompile(`(\d+\.\d+\.\d+\.\d+|\[[0-9a-f:.]+(%[^\]]+)?\]):\d+->`)

// Steady takes the local ports out of the text of a network error, which would
// make each repetition of the same error another message. It is still that error.
func Steady(err error) error {
	if err == nil {
		return nil
	}

	text := localAddress.ReplaceAllString(err.Error(), "")
	if text == err.Error() {
		return err
	}

	return &steadyError{text: text, error: err}
}

// steadyError is an error in other words.
type steadyError struct {
	error

	text string
}

// Error is the text without what differs each time.
func (e *steadyError) Error() string { return e.text }

// Unwrap is the error as it came.
func (e *steadyError) Unwrap() error { return e.error }
