// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// GroupVersion of every kind in this package.
var GroupVersion = schema.GroupVersion{Group: "kubeopera.io", Version: "v1alpha1"}

var builder = &scheme.Builder{GroupVersion: GroupVersion}

// AddToScheme registers every kind of this package.
var AddToScheme = builder.AddToScheme

// Kinds, as managed reconcilers and events name them.
var (
	TenantGroupVersionKind                  = GroupVersion.WithKind("Tenant")
	ProviderConfigGroupVersionKind          = GroupVersion.WithKind("ProviderConfig")
	ClusterProviderConfigGroupVersionKind   = GroupVersion.WithKind("ClusterProviderConfig")
	ProviderConfigUsageGroupVersionKind     = GroupVersion.WithKind("ProviderConfigUsage")
	ProviderConfigUsageListGroupVersionKind = GroupVersion.WithKind("ProviderConfigUsageList")
)

func init() {
	builder.Register(
		&Tenant{}, &TenantList{},
		&ProviderConfig{}, &ProviderConfigList{},
		&ClusterProviderConfig{}, &ClusterProviderConfigList{},
		&ProviderConfigUsage{}, &ProviderConfigUsageList{},
	)
}
