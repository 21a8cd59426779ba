// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
)

// initializer writes the annotations that a Tenant starts a pass with.
type initializer struct{ kube client.Client }

// Initialize names the release as the external name, see [reconciler.Initialize]. For a
// Tenant without the finalizer it writes nothing: who adds that writes both.
func (i initializer) Initialize(ctx context.Context, mg resource.Managed) error {
	t, ok := mg.(*v1alpha1.Tenant)
	if !ok {
		return fmt.Errorf("cannot initialize a %T: %w", mg, errNotTenant)
	}

	if !reconciler.Initialize(t, namesOf(t).release) {
		return nil
	}

	if !meta.FinalizerExists(t, managed.FinalizerName) && !reconciler.PoliciesOf(t).LooksOnly() {
		return nil
	}

	if err := i.kube.Update(ctx, t); err != nil {
		return fmt.Errorf("cannot write the Tenant's annotations: %w", err)
	}

	return nil
}
