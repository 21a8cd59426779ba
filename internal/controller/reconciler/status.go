// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// Merge takes over into an object whose status was kept what must not be lost of
// its status as it is stored.
type Merge func(kept, stored client.Object)

// keepStatus has write write o, and keeps the status that o has.
func keepStatus(o client.Object, merge Merge, write func() error) error {
	kept, ok := o.DeepCopyObject().(client.Object)
	err := write()

	if ok && merge != nil {
		merge(kept, o)
	}

	switch o := o.(type) {
	case *v1alpha1.Tenant:
		if kept, ok := kept.(*v1alpha1.Tenant); ok {
			o.Status = kept.Status
		}
	case *v1alpha1.AdvisorAgent:
		if kept, ok := kept.(*v1alpha1.AdvisorAgent); ok {
			o.Status = kept.Status
		}
	case *v1alpha1.TenantQuota:
		if kept, ok := kept.(*v1alpha1.TenantQuota); ok {
			o.Status = kept.Status
		}
	}

	return err
}
