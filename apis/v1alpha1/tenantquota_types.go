// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TenantQuotaSpec is the quota that is wanted inside a vCluster.
//
// +kubebuilder:validation:XValidation:rule="!has(self.managementPolicies) || size(self.managementPolicies) == 0 || self.managementPolicies == ['*'] || ('Observe' in self.managementPolicies && !('*' in self.managementPolicies) && (!('Delete' in self.managementPolicies) || 'Create' in self.managementPolicies || !('Update' in self.managementPolicies || 'LateInitialize' in self.managementPolicies)))",message="managementPolicies must be *, nothing, or Observe with any of Create, Update, Delete and LateInitialize, where Delete goes with Update or LateInitialize only beside Create"
type TenantQuotaSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// TenantRef is the Tenant inside whose vCluster the quota is kept, in the
	// same namespace. It never changes. The host cluster is that Tenant's:
	// providerConfigRef has no effect here.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="tenantRef is immutable: delete the TenantQuota and create another"
	TenantRef TenantReference `json:"tenantRef"`

	// Hard is what each of the namespaces may use, by the names that a
	// ResourceQuota knows, such as requests.cpu, limits.memory or pods.
	// +required
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=64
	Hard corev1.ResourceList `json:"hard"`

	// Namespaces of the vCluster that get a ResourceQuota and a LimitRange each.
	// One that does not exist is created, and never deleted. Unset means default.
	// +optional
	// +listType=set
	// +kubebuilder:default={"default"}
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespaces []string `json:"namespaces,omitempty"`
}

// TenantQuotaStatus is what was observed of the quota.
type TenantQuotaStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Namespaces of the vCluster that hold the quota.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=1000
	Namespaces []string `json:"namespaces,omitempty"`

	// Message says in words where it stands and what it waits for.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`
}

// A TenantQuota keeps a ResourceQuota and a LimitRange in namespaces inside the
// vCluster of a Tenant. It shows the customer what they have; the wall around all
// of them is the host namespace's, which spec.quota of the Tenant sets.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,kubeopera}
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="TENANT",type="string",JSONPath=".spec.tenantRef.name"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="MESSAGE",type="string",JSONPath=".status.message",priority=1
type TenantQuota struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the quota that is wanted.
	// +required
	Spec TenantQuotaSpec `json:"spec"`

	// Status is what was observed of it.
	// +optional
	Status TenantQuotaStatus `json:"status,omitempty"`
}

// TenantQuotaList is a list of TenantQuotas.
//
// +kubebuilder:object:root=true
type TenantQuotaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []TenantQuota `json:"items"`
}
