// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
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
