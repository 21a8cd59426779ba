// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TenantReference names a Tenant in the namespace of the object that refers to it.
type TenantReference struct {
	// Name of the Tenant.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// AdvisorSettings say what runs as the App Advisor.
type AdvisorSettings struct {
	// Image of the App Advisor, such as registry.example.org/app-advisor:v1. It
	// serves HTTP on port 8080 and answers GET /healthz with a status of 200 when it
	// is well. Unset means the provider's default.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self == '' || self.matches('^[a-zA-Z0-9][a-zA-Z0-9._/:@-]*$')",message="image must be an image reference, such as registry.example.org/app-advisor:v1"
	Image string `json:"image,omitempty"`

	// Replicas is how many pods of it run, 0 to 10. Unset means 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	Replicas *int32 `json:"replicas,omitempty"`

	// Env are variables of its environment. Those that are secret come from a
	// Secret in the namespace app-advisor of the vCluster, by valueFrom.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	Env []corev1.EnvVar `json:"env,omitempty"`

	// Resources of each of its pods. Unset means requests of 25m CPU and 32Mi
	// memory, limits of 200m and 128Mi. What it names is added to the host
	// namespace's quota, on top of the tenant's own.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
}

// AdvisorAgentSpec is the App Advisor that is wanted.
//
// +kubebuilder:validation:XValidation:rule="!has(self.managementPolicies) || size(self.managementPolicies) == 0 || self.managementPolicies == ['*'] || ('Observe' in self.managementPolicies && !('*' in self.managementPolicies) && (!('Delete' in self.managementPolicies) || 'Create' in self.managementPolicies || !('Update' in self.managementPolicies || 'LateInitialize' in self.managementPolicies)))",message="managementPolicies must be *, nothing, or Observe with any of Create, Update, Delete and LateInitialize, where Delete goes with Update or LateInitialize only beside Create"
type AdvisorAgentSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// TenantRef is the Tenant inside whose vCluster it runs, in the same
	// namespace. It never changes. The host cluster is that Tenant's:
	// providerConfigRef has no effect here.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="tenantRef is immutable: delete the AdvisorAgent and create another"
	TenantRef TenantReference `json:"tenantRef"`

	AdvisorSettings `json:",inline"`
}

// AdvisorAgentStatus is what was observed of the App Advisor.
type AdvisorAgentStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Image that its Deployment asks for, also while it cannot be pulled.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`

	// ReadyReplicas is how many of its pods are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`

	// Endpoint of its Service inside the vCluster.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Endpoint string `json:"endpoint,omitempty"`

	// Message says in words where it stands and what it waits for.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`
}

// An AdvisorAgent runs the customer's App Advisor inside the vCluster of a
// Tenant, with the right to read there, and not to read Secrets.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,managed,kubeopera}
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="TENANT",type="string",JSONPath=".spec.tenantRef.name"
// +kubebuilder:printcolumn:name="IMAGE",type="string",JSONPath=".status.image"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="MESSAGE",type="string",JSONPath=".status.message",priority=1
type AdvisorAgent struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the App Advisor that is wanted.
	// +required
	Spec AdvisorAgentSpec `json:"spec"`

	// Status is what was observed of it.
	// +optional
	Status AdvisorAgentStatus `json:"status,omitempty"`
}

// AdvisorAgentList is a list of AdvisorAgents.
//
// +kubebuilder:object:root=true
type AdvisorAgentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []AdvisorAgent `json:"items"`
}
