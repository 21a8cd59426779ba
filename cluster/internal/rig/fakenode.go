// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// followAgain is the pause before a watch that failed is begun anew.
const followAgain = 50 * time.Millisecond

// Follow hands each object of the kind to fn as it is and as it changes, until ctx ends.
// What fn could not do is tried again.
func Follow(ctx context.Context, c client.WithWatch, l client.ObjectList, fn func(context.Context, client.Object) error, opts ...client.ListOption) {
	for ctx.Err() == nil {
		w, err := c.Watch(ctx, l, opts...)
		if err != nil {
			select {
			case <-time.After(followAgain):
			case <-ctx.Done():
			}

			continue
		}

		for e := range w.ResultChan() {
			o, ok := e.Object.(client.Object)
			if !ok {
				break
			}

			if err := fn(ctx, o); client.IgnoreNotFound(err) != nil && !kerrors.IsConflict(err) && ctx.Err() == nil {
				break
			}
		}

		w.Stop()
	}
}

// FakeExport writes the Secret that a vCluster writes when it starts, with this
// kubeconfig. One that exists is left as it is.
func FakeExport(ctx context.Context, c client.Client, namespace, release string, kubeconfig []byte) error {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: vcluster.ExportedSecretName(release),
		Labels: map[string]string{vcluster.LabelApp: vcluster.AppName, "vcluster-name": release},
	}}
	s.Data = map[string][]byte{vcluster.KeyConfig: kubeconfig}

	if err := c.Create(ctx, s); err != nil && !kerrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot export a kubeconfig as %q does: %w", release, err)
	}

	return nil
}
