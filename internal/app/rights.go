// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/rbac"
	"github.com/kubeopera/provider-kubeopera/internal/rights"
)

// requirement is what the provider must be allowed to do on its own cluster.
type requirement struct {
	own, host []rights.Right
	// live reads past the cache.
	live client.Reader
}

// newRequirement reads it from the shipped manifests. The outbox is a namespace,
// or empty when nothing is reported.
func newRequirement(live client.Reader, outbox string) (*requirement, error) {
	rules, err := rbac.Load()
	if err != nil {
		return nil, err
	}
	own, err := rights.FromRules(rules.Provider, "")
	if err != nil {
		return nil, err
	}
	if outbox != "" {
		reports, err := rights.FromRules(rules.Reports, outbox)
		if err != nil {
			return nil, err
		}
		own = append(own, reports...)
	}
	host, err := rights.FromRules(rules.Host, "")
	if err != nil {
		return nil, err
	}
	return &requirement{own: own, host: host, live: live}, nil
}

// rights that are needed now: those of a host are not as long as all hosts are
// other clusters.
func (r *requirement) rights(ctx context.Context) ([]rights.Right, error) {
	elsewhere, err := hostsAreElsewhere(ctx, r.live)
	if err != nil {
		return nil, err
	}
	if elsewhere {
		return r.own, nil
	}
	// What both need is asked for once.
	out, seen := []rights.Right{}, map[rights.Right]bool{}
	for _, list := range [][]rights.Right{r.own, r.host} {
		for _, one := range list {
			if !seen[one] {
				seen[one] = true
				out = append(out, one)
			}
		}
	}
	return out, nil
}

// hostsAreElsewhere says whether there are provider configurations and each names
// another cluster by a kubeconfig. Those that the provider may not read, or that
// cannot exist yet, name none.
func hostsAreElsewhere(ctx context.Context, live client.Reader) (bool, error) {
	cluster, local := &v1alpha1.ClusterProviderConfigList{}, &v1alpha1.ProviderConfigList{}
	for _, l := range []client.ObjectList{cluster, local} {
		err := live.List(ctx, l)
		if kerrors.IsForbidden(err) || kerrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("cannot find out which host clusters there are: %w", err)
		}
	}
	for i := range cluster.Items {
		if cluster.Items[i].Spec.Credentials.Source != xpv2.CredentialsSourceSecret {
			return false, nil
		}
	}
	for i := range local.Items {
		if local.Items[i].Spec.Credentials.Source != xpv2.CredentialsSourceSecret {
			return false, nil
		}
	}
	return len(cluster.Items)+len(local.Items) > 0, nil
}
