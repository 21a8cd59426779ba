// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
	"github.com/kubeopera/provider-kubeopera/internal/glance"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// wayIn is the way into one vCluster.
type wayIn struct {
	live client.Client
	// flux works on Flux's release, and is made when it is asked for.
	flux func() (helm.Client, error)
	// probe asks the API for something that only its credentials may read.
	probe func(ctx context.Context) error
	// follow tells of each change of the Deployments of a namespace; unfollow ends it.
	follow, unfollow func(namespace string)
}

// opener makes the way into the Tenant's vCluster, with pooled connections. What is read
// through it is remembered by the look.
func (c *connector) opener(t *v1alpha1.Tenant, look *glance.Look) func(k *vcluster.Kubeconfig) (*wayIn, error) {
	uid, key := t.GetUID(), client.ObjectKeyFromObject(t)

	return func(k *vcluster.Kubeconfig) (*wayIn, error) {
		api, err := c.tenants.Get(uid, k)
		if err != nil {
			return nil, err
		}

		return &wayIn{
			live: look.Live(api.Live, nil),
			flux: sync.OnceValues(func() (helm.Client, error) {
				h, err := api.Helm()
				if err != nil {
					return nil, err
				}

				// A hook would hold up the pass, and a pod more than the quota holds an upgrade.
				return newLookingHelm(h.Client(flux.Namespace, helm.SkipHooks(), helm.WithoutSurge()), look), nil
			}),
			probe: func(ctx context.Context) error {
				err := c.probe(ctx, t, api)
				look.Asked("", err, func(ctx context.Context) (string, error) { return "", api.Probe(ctx) })

				return err
			},
			follow:   func(namespace string) { api.Follow(namespace, func() { c.waker.Wake(key) }) },
			unfollow: api.Unfollow,
		}, nil
	}
}

// probe asks a tenant's API. What does not answer gets new connections next time.
func (c *connector) probe(ctx context.Context, t *v1alpha1.Tenant, api *tenantapi.API) error {
	err := api.Probe(ctx)
	if err != nil {
		c.tenants.Drop(t.GetUID())
	}

	return err
}
