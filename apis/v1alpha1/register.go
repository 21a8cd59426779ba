// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: "kubeopera.io", Version: "v1alpha1"}

// Kinds, as managed reconcilers and events name them.
var (
	TenantGroupVersionKind                  = GroupVersion.WithKind("Tenant")
	AdvisorAgentGroupVersionKind            = GroupVersion.WithKind("AdvisorAgent")
	TenantQuotaGroupVersionKind             = GroupVersion.WithKind("TenantQuota")
	ProviderConfigGroupVersionKind          = GroupVersion.WithKind("ProviderConfig")
	ClusterProviderConfigGroupVersionKind   = GroupVersion.WithKind("ClusterProviderConfig")
	ProviderConfigUsageGroupVersionKind     = GroupVersion.WithKind("ProviderConfigUsage")
	ProviderConfigUsageListGroupVersionKind = GroupVersion.WithKind("ProviderConfigUsageList")
)

// AddToScheme registers every kind of this package.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&Tenant{}, &TenantList{},
		&AdvisorAgent{}, &AdvisorAgentList{},
		&TenantQuota{}, &TenantQuotaList{},
		&ProviderConfig{}, &ProviderConfigList{},
		&ClusterProviderConfig{}, &ClusterProviderConfigList{},
		&ProviderConfigUsage{}, &ProviderConfigUsageList{},
	)
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
