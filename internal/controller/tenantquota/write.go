// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantquota

import (
	"context"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
)

// Write puts the quota in place in all namespaces, and removes it from those that
// left the list, as far as it may. One that refuses does not keep the others from their quota. The
// error is the first.
func (h handler) Write(ctx context.Context, p inside.Pass, q *v1alpha1.TenantQuota, seen *facts) error {
	var failed error

	for _, n := range seen.namespaces {
		if n.goingAway() || n.inPlace() {
			continue
		}

		if err := write(ctx, p, q, n); err != nil && failed == nil {
			failed = err
		}
	}

	if !p.May.Update {
		return failed
	}

	if err := p.Remove(ctx, seen.stale); failed == nil {
		failed = err
	}

	return failed
}

// write puts the quota in place in one namespace, which it makes if there is none.
func write(ctx context.Context, p inside.Pass, q *v1alpha1.TenantQuota, n foundNamespace) error {
	if !n.complete() && n.namespace.Live == nil {
		if err := inside.CreateNamespace(ctx, p.Inside, n.namespace.Want); err != nil {
			return err
		}
	}

	return p.Write(ctx, q, n.objects)
}
