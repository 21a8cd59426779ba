// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// caches fills the caches that the controllers read from and says when they
// are full. A replica that waits to become the leader fills them too, so that
// it can take over at once.
type caches struct {
	cache  cache.Informers
	synced atomic.Bool
}

// Start returns when the caches are full.
func (c *caches) Start(ctx context.Context) error {
	for _, o := range []client.Object{
		&v1alpha1.Tenant{},
		&v1alpha1.ProviderConfig{},
		&v1alpha1.ClusterProviderConfig{},
		&v1alpha1.ProviderConfigUsage{},
	} {
		_, err := c.cache.GetInformer(ctx, o)
		if ctx.Err() != nil {
			// The provider is told to stop.
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot fill the cache of %T: %w", o, err)
		}
	}
	c.synced.Store(true)
	return nil
}

// NeedLeaderElection says that this runs in every replica.
func (*caches) NeedLeaderElection() bool { return false }

// check is the readiness probe.
func (c *caches) check(*http.Request) error {
	if !c.synced.Load() {
		return errors.New("caches are not synced yet")
	}
	return nil
}
