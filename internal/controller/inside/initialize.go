// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
)

// initializer writes the metadata that an object starts a pass with.
type initializer struct{ kube client.Client }

// Initialize gives mg its own name as the external name, see
// [reconciler.Initialize], and labels mg with the UID of its Tenant. The label is
// there before anything is made inside, so that it tells later whether anything may
// be, and whether the Tenant of that name is still the same.
func (i initializer) Initialize(ctx context.Context, mg resource.Managed) error {
	changed := reconciler.Initialize(mg, mg.GetName())

	if !meta.WasDeleted(mg) {
		bound, err := i.bind(ctx, mg)
		if err != nil {
			return err
		}

		changed = changed || bound
	}

	if !changed {
		return nil
	}

	if err := i.kube.Update(ctx, mg); err != nil {
		return fmt.Errorf("cannot write the metadata of the %s: %w", KindOf(mg), err)
	}

	return nil
}

// bind labels mg with the UID of its Tenant, and says whether it had another or none.
// What has none gets none before there is a vCluster to be inside of.
func (i initializer) bind(ctx context.Context, mg resource.Managed) (bool, error) {
	ref, _ := TenantOf(mg)

	t := &v1alpha1.Tenant{}
	if err := i.kube.Get(ctx, ref, t); client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("cannot read Tenant %q: %w", ref.Name, err)
	}

	was := boundTo(mg)
	if t.GetUID() == "" || was == t.GetUID() || (was == "" && t.Status.KubeconfigSecret == "") {
		return false, nil
	}

	meta.AddLabels(mg, map[string]string{v1alpha1.LabelTenantUID: string(t.GetUID())})

	return true, nil
}
