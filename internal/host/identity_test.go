// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestClusterID holds that a connection is asked once which cluster it leads to, and
// that no failure is remembered.
func TestClusterID(t *testing.T) {
	t.Parallel()

	asked, failure := 0, errInjected
	live := fake.NewClientBuilder().
		WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: "a"}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other", UID: "b"}}).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if asked++; failure != nil {
					return failure
				}

				return c.Get(ctx, key, o, opts...)
			},
		}).Build()
	h := &Host{Live: live}

	if id, err := h.ClusterID(t.Context()); !errors.Is(err, errInjected) || id != "" || !strings.Contains(err.Error(), "kube-system") {
		t.Errorf("cannot be read: %q, %v", id, err)
	}

	asked, failure = 0, nil

	for range 3 {
		if id, err := h.ClusterID(t.Context()); err != nil || id != "a" {
			t.Errorf("got %q, %v", id, err)
		}
	}

	if asked != 1 {
		t.Errorf("asked %d times, want once", asked)
	}
}

// TestClusterIDRefuses holds that what cannot tell one cluster from another is an error.
func TestClusterIDRefuses(t *testing.T) {
	t.Parallel()

	for name, uid := range map[string]types.UID{"none": "", "too long": types.UID(strings.Repeat("a", maxID+1))} {
		c := fake.NewClientBuilder().WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kube-system", UID: uid}}).Build()
		if id, err := ClusterID(t.Context(), c); err == nil || strings.Contains(err.Error(), "aaa") {
			t.Errorf("%s: got %q, %v", name, id, err)
		}
	}
}
