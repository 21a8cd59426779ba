// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// names of what one Tenant makes.
type names struct {
	release, namespace string // on the host
	exported           string // the Secret there with the kubeconfig as vCluster writes it
	secret             string // the Secret beside the Tenant with the kubeconfig as it is published
}

func namesOf(t *v1alpha1.Tenant) names {
	release := vcluster.ReleaseName(t.Spec.TenantName)

	return names{
		release:   release,
		namespace: vcluster.HostNamespace(t.Spec.TenantName),
		exported:  vcluster.ExportedSecretName(release),
		secret:    vcluster.KubeconfigSecretName(t.Spec.CloudSpaceID),
	}
}

// externalName initializes a Tenant's external name with that of its release.
type externalName struct{ kube client.Client }

// Initialize writes the name unless there is one.
func (n externalName) Initialize(ctx context.Context, mg resource.Managed) error {
	t, ok := mg.(*v1alpha1.Tenant)
	if !ok {
		return fmt.Errorf("cannot name a %T: %w", mg, errNotTenant)
	}

	if meta.GetExternalName(t) != "" {
		return nil
	}

	meta.SetExternalName(t, namesOf(t).release)

	if err := n.kube.Update(ctx, t); err != nil {
		return fmt.Errorf("cannot write the external name: %w", err)
	}

	return nil
}

// statusKeeper updates critical annotations and keeps the status that Create
// has set, which the API server's answer would otherwise replace.
type statusKeeper struct{ inner criticalAnnotationUpdater }

type criticalAnnotationUpdater interface {
	UpdateCriticalAnnotations(ctx context.Context, o client.Object) error
}

// UpdateCriticalAnnotations writes the annotations of o and leaves its status as it is.
func (k statusKeeper) UpdateCriticalAnnotations(ctx context.Context, o client.Object) error {
	t, ok := o.(*v1alpha1.Tenant)
	if !ok {
		return fmt.Errorf("cannot update annotations of a %T: %w", o, errNotTenant)
	}

	status := *t.Status.DeepCopy()
	err := k.inner.UpdateCriticalAnnotations(ctx, t)
	t.Status = status

	return err
}
