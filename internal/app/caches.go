// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// fill returns when the caches are full that the controllers read from. A replica
// that waits to become the leader fills them too, so that it can take over at once.
func fill(ctx context.Context, c cache.Informers) error {
	for _, o := range []client.Object{
		&v1alpha1.Tenant{},
		&v1alpha1.AdvisorAgent{},
		&v1alpha1.TenantQuota{},
		&v1alpha1.ProviderConfig{},
		&v1alpha1.ClusterProviderConfig{},
		&v1alpha1.ProviderConfigUsage{},
	} {
		if _, err := c.GetInformer(ctx, o); err != nil {
			return fmt.Errorf("cannot fill the cache of %T: %w", o, err)
		}
	}
	return nil
}
