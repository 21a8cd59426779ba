// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import "github.com/crossplane/crossplane-runtime/v2/pkg/resource"

// What the managed and the provider configuration reconcilers ask of the kinds.
var (
	_ resource.ModernManaged            = &Tenant{}
	_ resource.ModernManaged            = &AdvisorAgent{}
	_ resource.ModernManaged            = &TenantQuota{}
	_ resource.ProviderConfig           = &ProviderConfig{}
	_ resource.ProviderConfig           = &ClusterProviderConfig{}
	_ resource.TypedProviderConfigUsage = &ProviderConfigUsage{}
	_ resource.ProviderConfigUsageList  = &ProviderConfigUsageList{}
)
