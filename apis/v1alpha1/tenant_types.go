// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TenantSpec is the CloudSpace that is wanted.
//
// +kubebuilder:validation:XValidation:rule="!has(self.providerConfigRef) || self.providerConfigRef.kind in ['ProviderConfig', 'ClusterProviderConfig']",message="providerConfigRef.kind must be ProviderConfig or ClusterProviderConfig"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.providerConfigRef) || (has(self.providerConfigRef) && self.providerConfigRef == oldSelf.providerConfigRef)",message="providerConfigRef is immutable, since a CloudSpace cannot move to another host cluster: delete the Tenant and create another"
// +kubebuilder:validation:XValidation:rule="!has(self.writeConnectionSecretToRef) || self.writeConnectionSecretToRef.name != 'tenant-' + self.cloudSpaceID + '-kubeconfig'",message="writeConnectionSecretToRef.name must not be tenant-{cloudSpaceID}-kubeconfig, which is the Secret that holds the kubeconfig in any case: choose another name"
// +kubebuilder:validation:XValidation:rule="!has(self.managementPolicies) || size(self.managementPolicies) == 0 || self.managementPolicies == ['*'] || ('Observe' in self.managementPolicies && !('*' in self.managementPolicies) && (!('Delete' in self.managementPolicies) || 'Create' in self.managementPolicies || !('Update' in self.managementPolicies || 'LateInitialize' in self.managementPolicies)))",message="managementPolicies must be *, nothing, or Observe with any of Create, Update, Delete and LateInitialize, where Delete goes with Update or LateInitialize only beside Create"
type TenantSpec struct {
	xpv2.ManagedResourceSpec `json:",inline"`

	// UserID is the id of the customer who owns the CloudSpace: 1 to 63 letters,
	// digits, '.', '_' and '-', with a letter or digit at both ends. It never
	// changes.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$')",message="userID must be usable as a label value: letters, digits, '.', '_' and '-', with a letter or digit at both ends"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="userID is immutable: delete the Tenant and create another"
	UserID string `json:"userID"`

	// TenantName names the vCluster: its Helm release is vc-{tenantName}, its
	// namespace on the host cluster is vcluster-{tenantName}. It has 3 to 32
	// lower-case letters, digits and '-', with a letter or digit at both ends. It
	// is unique on the host cluster and never changes.
	// +required
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$')",message="tenantName must be 3 to 32 lower-case letters, digits and '-', with a letter or digit at both ends"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="tenantName is immutable: delete the Tenant and create another"
	TenantName string `json:"tenantName"`

	// CloudSpaceID is the id under which KubeOpera knows the CloudSpace. The
	// kubeconfig is published as Secret tenant-{cloudSpaceID}-kubeconfig. It has 1
	// to 63 lower-case letters, digits and '-', with a letter or digit at both
	// ends. It is unique among all Tenants and never changes.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([a-z0-9-]*[a-z0-9])?$')",message="cloudSpaceID must be usable in a Secret name and as a label value: lower-case letters, digits and '-', with a letter or digit at both ends"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cloudSpaceID is immutable: delete the Tenant and create another"
	CloudSpaceID string `json:"cloudSpaceID"`

	// Quota is what the CloudSpace's own workloads may use in total. What the
	// platform runs beside them (the control plane, CoreDNS, Flux, the App Advisor)
	// is added on top. CPU
	// and memory have defaults of their own, 2 and 4Gi: one that is given alone
	// leaves the other at its default. A container that names no requests and
	// limits gets limits of 500m CPU and 512Mi memory, requests of 50m and 64Mi,
	// and counts with these.
	// +optional
	// +kubebuilder:default={}
	Quota QuotaSpec `json:"quota,omitzero"`

	// VCluster says how the vCluster is installed.
	// +optional
	VCluster *VClusterSpec `json:"vcluster,omitempty"`

	// Flux says how Flux is installed inside the vCluster.
	// +optional
	Flux *FluxSpec `json:"flux,omitempty"`

	// Advisor says how the App Advisor runs inside the vCluster. It runs when an
	// image is set, here or as the provider's default. An AdvisorAgent of one's
	// own that names this Tenant replaces it.
	// +optional
	Advisor *AdvisorSpec `json:"advisor,omitempty"`
}

// QuotaSpec is what the workloads of one CloudSpace may use in total.
type QuotaSpec struct {
	// CPU that all workloads together may request, and use at most, in cores,
	// such as 4 or 500m: above 0 and at most 100000. Unset means 2, whatever
	// memory is.
	// +optional
	// +kubebuilder:default="2"
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[+-]?[0-9.]{1,32}([A-Za-z]{0,2}|[eE][+-]?[0-9]{1,2})$') && isQuantity(string(self)) && quantity(string(self)).isGreaterThan(quantity('0')) && quantity(string(self)).compareTo(quantity('100000')) <= 0",message="quota.cpu must be a quantity of cores above 0 and at most 100000, such as 4 or 500m"
	CPU *resource.Quantity `json:"cpu,omitempty"`

	// Memory that all workloads together may request, and use at most, in bytes,
	// such as 8Gi: 1Mi to 1Pi. Unset means 4Gi, whatever cpu is.
	// +optional
	// +kubebuilder:default="4Gi"
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[+-]?[0-9.]{1,32}([A-Za-z]{0,2}|[eE][+-]?[0-9]{1,2})$') && isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('1Mi')) >= 0 && quantity(string(self)).compareTo(quantity('1Pi')) <= 0",message="quota.memory must be a quantity of bytes from 1Mi to 1Pi, such as 8Gi"
	Memory *resource.Quantity `json:"memory,omitempty"`

	// Storage that all volume claims together may request, in bytes, such as
	// 50Gi: 1Mi to 1Ei. Unset means no limit.
	// +optional
	// +kubebuilder:validation:XValidation:rule="string(self).matches('^[+-]?[0-9.]{1,32}([A-Za-z]{0,2}|[eE][+-]?[0-9]{1,2})$') && isQuantity(string(self)) && quantity(string(self)).compareTo(quantity('1Mi')) >= 0 && quantity(string(self)).compareTo(quantity('1Ei')) <= 0",message="quota.storage must be a quantity of bytes from 1Mi to 1Ei, such as 50Gi"
	Storage *resource.Quantity `json:"storage,omitempty"`

	// Pods that may exist at once, 1 to 100000. Unset means no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	Pods *int32 `json:"pods,omitempty"`
}

// VClusterSpec says how the vCluster is installed.
type VClusterSpec struct {
	// ChartVersion of the vCluster chart, 0.20 to 0.36. Unset means what the
	// provider configuration says, or else the provider's own default.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^v?[0-9]+[.][0-9]+[.][0-9]+(-[0-9A-Za-z.-]+)?$')",message="vcluster.chartVersion must be an exact version, such as 0.36.1"
	ChartVersion *string `json:"chartVersion,omitempty"`

	// KubernetesVersion that the vCluster runs, such as v1.36.0. Unset means
	// the chart's default.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^v?1[.][0-9]+[.][0-9]+([-+][0-9A-Za-z.-]+)?$')",message="vcluster.kubernetesVersion must be an exact version v1.x.y, such as v1.36.0"
	KubernetesVersion *string `json:"kubernetesVersion,omitempty"`

	// Distro of Kubernetes inside the vCluster. Unset means k3s for charts up
	// to 0.32 and k8s from 0.33, where k3s no longer exists. It cannot change
	// once the vCluster runs: a change is stored, but never carried out. The
	// vCluster works as before, and status.message says so until the old value
	// is back.
	// +optional
	// +kubebuilder:validation:Enum=k3s;k8s
	Distro *Distro `json:"distro,omitempty"`

	// ValuesOverrides are merged over the values that the provider makes for
	// the vCluster chart. They must satisfy the chart's schema, and set only what
	// allowedValuesOverrides of the provider configuration lists, by default what
	// weakens no isolation. A Tenant whose overrides set more fails, or stays as it is
	// when it runs, and status.message names each path.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	ValuesOverrides *apiextensionsv1.JSON `json:"valuesOverrides,omitempty"`
}

// FluxSpec says how Flux is installed inside a vCluster.
type FluxSpec struct {
	// Enabled installs Flux in the namespace flux-system of the vCluster and keeps
	// it. Turned off later, what is installed stays as it is: it is the tenant's
	// from then on, and counts against its quota.
	// +optional
	// +kubebuilder:default=true
	Enabled *bool `json:"enabled,omitempty"`

	// ChartVersion of the flux2 chart. Unset means what the provider
	// configuration says, or else the provider's own default.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^v?[0-9]+[.][0-9]+[.][0-9]+(-[0-9A-Za-z.-]+)?$')",message="flux.chartVersion must be an exact version, such as 2.18.3"
	ChartVersion *string `json:"chartVersion,omitempty"`

	// ValuesOverrides are merged over the values that the provider makes for the
	// flux2 chart, and win. Hooks of the chart do not run, and its Deployments roll
	// without a surge, whatever they say.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	ValuesOverrides *apiextensionsv1.JSON `json:"valuesOverrides,omitempty"`
}

// AdvisorSpec says how the App Advisor of a Tenant runs.
type AdvisorSpec struct {
	// Enabled runs the App Advisor if there is an image. Turned off later, it is
	// removed.
	// +optional
	// +kubebuilder:default=true
	Enabled *bool `json:"enabled,omitempty"`

	AdvisorSettings `json:",inline"`
}

// Distro of Kubernetes that runs inside a vCluster.
type Distro string

// Distros that vCluster charts know.
const (
	DistroK3s Distro = "k3s"
	DistroK8s Distro = "k8s"
)

// TenantPhase is where a Tenant stands, in one word.
type TenantPhase string

// Phases of a Tenant. They are computed from its conditions.
const (
	// PhasePending: nothing has been done yet.
	PhasePending TenantPhase = "Pending"
	// PhaseProvisioning: the namespace, the vCluster or its kubeconfig is being made, or
	// does not work any more.
	PhaseProvisioning TenantPhase = "Provisioning"
	// PhaseInstallingFlux: the vCluster answers; its DNS, Flux, and the App Advisor
	// and the quota beside it, are coming up in it, or do not work any more.
	PhaseInstallingFlux TenantPhase = "InstallingFlux"
	// PhaseReady: everything that was asked for is there and answers.
	PhaseReady TenantPhase = "Ready"
	// PhaseFailed: the last attempt failed; the message says why. It is tried again.
	PhaseFailed TenantPhase = "Failed"
	// PhaseDeleting: it is being removed; the message says what is still there.
	PhaseDeleting TenantPhase = "Deleting"
)

// Conditions of a Tenant besides Crossplane's Ready and Synced, in the order
// of its stages.
const (
	// TypeBoundaryReady: the host namespace is the Tenant's, with its quota and limits,
	// or is only observed.
	TypeBoundaryReady xpv2.ConditionType = "BoundaryReady"
	// TypeReleaseDeployed: the Helm release is what the spec asks for.
	TypeReleaseDeployed xpv2.ConditionType = "ReleaseDeployed"
	// TypeAPIReachable: the tenant's API answered with the exported credentials.
	TypeAPIReachable xpv2.ConditionType = "APIReachable"
	// TypeKubeconfigPublished: the kubeconfig Secret holds those credentials.
	TypeKubeconfigPublished xpv2.ConditionType = "KubeconfigPublished"
	// TypeDNSReady: the vCluster's CoreDNS is available, or it runs none.
	TypeDNSReady xpv2.ConditionType = "DNSReady"
	// TypeFluxReady: Flux runs inside the vCluster, is not wanted, or is managed by
	// the tenant.
	TypeFluxReady xpv2.ConditionType = "FluxReady"
	// TypeQuotaApplied: the quota inside the vCluster is what the spec asks for.
	TypeQuotaApplied xpv2.ConditionType = "QuotaApplied"
	// TypeAdvisorReady: the App Advisor runs inside the vCluster, or is not wanted.
	TypeAdvisorReady xpv2.ConditionType = "AdvisorReady"
	// TypeReported: kubeopera-api has accepted the newest report. It never holds
	// Ready back.
	TypeReported xpv2.ConditionType = "Reported"
	// TypeStalled: deletion has not ended for longer than it should; a person should look.
	TypeStalled xpv2.ConditionType = "Stalled"
)

// Reasons of a Tenant's conditions.
const (
	// ReasonDone: the stage is complete.
	ReasonDone xpv2.ConditionReason = "Done"
	// ReasonSkipped: the stage is not wanted; the message says what turned it off.
	ReasonSkipped xpv2.ConditionReason = "Skipped"
	// ReasonObserved: the stage is only looked at, as managementPolicies say; the message says what an update would change.
	ReasonObserved xpv2.ConditionReason = "Observed"
	// ReasonUnmanaged: someone else has taken over what the stage made; it is left alone.
	ReasonUnmanaged xpv2.ConditionReason = "Unmanaged"
	// ReasonWaiting: an earlier stage is not complete yet.
	ReasonWaiting xpv2.ConditionReason = "Waiting"
	// ReasonProgressing: the stage was started and is not complete yet.
	ReasonProgressing xpv2.ConditionReason = "Progressing"
	// ReasonFailed: the stage failed; the message says why. It is tried again.
	ReasonFailed xpv2.ConditionReason = "Failed"
	// ReasonPendingChange: the stage works as before; a change of the spec waits, the message says for what.
	ReasonPendingChange xpv2.ConditionReason = "PendingChange"
	// ReasonConflict: something of that name belongs to someone else; the message names the owner.
	ReasonConflict xpv2.ConditionReason = "Conflict"
	// ReasonRemoving: what the stage made is being removed.
	ReasonRemoving xpv2.ConditionReason = "Removing"
	// ReasonBlocked: removal waits for the objects that the message names.
	ReasonBlocked xpv2.ConditionReason = "Blocked"
	// ReasonHostUnreachable: whether anything is left to remove cannot be found out, since
	// the host cluster does not answer, or answers 401, or cannot be found, or is another
	// than the Tenant lives on; the message says why.
	ReasonHostUnreachable xpv2.ConditionReason = "HostUnreachable"
	// ReasonExpiring: the stage is complete, and the client certificate of the kubeconfig
	// ends soon.
	ReasonExpiring xpv2.ConditionReason = "Expiring"
)

// Labels and annotations on what a Tenant makes.
const (
	// LabelTenantID carries the Tenant's cloudSpaceID.
	LabelTenantID = "kubeopera.io/tenant-id"
	// LabelTenantName carries the Tenant's tenantName.
	LabelTenantName = "kubeopera.io/tenant-name"
	// LabelTenantUID carries the UID of the Tenant that the object belongs to.
	LabelTenantUID = "kubeopera.io/tenant-uid"
	// LabelUserID carries the Tenant's userID.
	LabelUserID = "kubeopera.io/user-id"
	// LabelEnvironment carries the platform's environment, such as production.
	LabelEnvironment = "kubeopera.io/environment"
	// LabelManagedBy is ManagedBy on everything that the Tenant controller makes.
	LabelManagedBy = "kubeopera.io/managed-by"
	// ManagedBy is the value of LabelManagedBy.
	ManagedBy = "tenant-controller"
	// AnnotationTenant carries the owning Tenant as namespace/name.
	AnnotationTenant = "kubeopera.io/tenant"
	// AnnotationAdoptedAt is when a Tenant adopted the host namespace, in RFC 3339.
	AnnotationAdoptedAt = "kubeopera.io/adopted-at"
	// AnnotationPausedByTenant is "true" on an AdvisorAgent or a TenantQuota that is
	// paused since its Tenant is.
	AnnotationPausedByTenant = "kubeopera.io/paused-by-tenant"
	// AnnotationRenewed on the pods of a control plane is the end of the client
	// certificate, in RFC 3339, for whose renewal they were restarted.
	AnnotationRenewed = "kubeopera.io/renewed-certificate"
)

// AnnotationAdopt asks for the adoption of a vCluster that the Tenant did not make.
// People set it on the Tenant, to the name of the namespace on the host cluster
// that holds the vCluster.
const AnnotationAdopt = "kubeopera.io/adopt"

// AnnotationAbandon lets go of a Tenant that is being deleted and whose host cluster
// was unreachable for 15 minutes without a break. People set it on the Tenant, to the
// name of the namespace on that cluster, which may be left there with all that is in it.
const AnnotationAbandon = "kubeopera.io/abandon"

// TenantStatus is what was observed of the CloudSpace. Only the provider
// writes it.
type TenantStatus struct {
	xpv2.ManagedResourceStatus `json:",inline"`

	// Phase in one word. It is computed from the conditions.
	// +optional
	// +kubebuilder:validation:Enum=Pending;Provisioning;InstallingFlux;Ready;Failed;Deleting
	Phase TenantPhase `json:"phase,omitempty"`

	// VClusterName is the name of the vCluster and of its Helm release.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	VClusterName string `json:"vclusterName,omitempty"`

	// Namespace of the vCluster on the host cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// HostClusterID is the host cluster that the CloudSpace lives on: the UID of the
	// namespace kube-system there. It is set once the namespace of the vCluster is the
	// Tenant's. If the provider configuration leads to another cluster, nothing is
	// done there, and nothing is let go.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	HostClusterID string `json:"hostClusterID,omitempty"`

	// ChartVersion of the vCluster release that was last observed.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	ChartVersion string `json:"chartVersion,omitempty"`

	// Endpoint of the tenant's API, as the published kubeconfig has it.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Endpoint string `json:"endpoint,omitempty"`

	// KubeconfigSecret is the Secret in the Tenant's namespace that holds the
	// kubeconfig under the key kubeconfig. It is set once that is published.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	KubeconfigSecret string `json:"kubeconfigSecret,omitempty"`

	// KubeconfigExpiresAt is when the client certificate of the kubeconfig ends. It is
	// renewed before. Absent for a kubeconfig with a token.
	// +optional
	KubeconfigExpiresAt *metav1.Time `json:"kubeconfigExpiresAt,omitempty"`

	// Message says in words where the Tenant stands and what it waits for.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`

	// Quota is what the CloudSpace may use and what it uses, as the host cluster
	// has it.
	// +optional
	Quota *QuotaStatus `json:"quota,omitempty"`

	// Report is what kubeopera-api was told last, or is to be told. The condition
	// Reported says whether it has been accepted.
	// +optional
	Report *ReportStatus `json:"report,omitempty"`

	// LastSyncedAt is when this status last changed, and not when the Tenant was
	// last looked at.
	// +optional
	LastSyncedAt *metav1.Time `json:"lastSyncedAt,omitempty"`
}

// QuotaStatus is the ResourceQuota of a CloudSpace's host namespace, and what it is
// made of. Names are those of a ResourceQuota, such as limits.cpu; CPU is in
// cores, memory and storage in bytes.
type QuotaStatus struct {
	// Workloads is the share of the CloudSpace's own workloads: spec.quota.
	// +optional
	Workloads corev1.ResourceList `json:"workloads,omitempty"`

	// Platform is the allowance on top of it, for what the platform itself runs
	// there: the control plane, CoreDNS, Flux and the App Advisor. As long as it is
	// not known what Flux needs, it is what remains of hard.
	// +optional
	Platform corev1.ResourceList `json:"platform,omitempty"`

	// Hard is what the host cluster enforces: the sum of both, once a change has
	// reached it.
	// +optional
	Hard corev1.ResourceList `json:"hard,omitempty"`

	// Used is how much of Hard is used, by workloads and platform together.
	// +optional
	Used corev1.ResourceList `json:"used,omitempty"`
}

// ReportState is the state of a CloudSpace as kubeopera-api knows it.
type ReportState string

// States that are reported.
const (
	// ReportProvisioning: it is being made, or does not answer at the moment.
	ReportProvisioning ReportState = "provisioning"
	// ReportActive: it is Ready, for the generation that is reported.
	ReportActive ReportState = "active"
	// ReportFailed: the last attempt failed, and is repeated.
	ReportFailed ReportState = "failed"
	// ReportDeleting: it is being removed.
	ReportDeleting ReportState = "deleting"
	// ReportDeleted: nothing of it is left.
	ReportDeleted ReportState = "deleted"
)

// ReportStatus is one report to kubeopera-api.
type ReportStatus struct {
	// Status of the CloudSpace: provisioning (also when it does not answer at the
	// moment), active, failed, deleting or deleted.
	// +required
	// +kubebuilder:validation:Enum=provisioning;active;failed;deleting;deleted
	Status ReportState `json:"status"`

	// Message that goes with it.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`

	// Generation of the Tenant that it is about.
	// +optional
	Generation int64 `json:"generation,omitempty"`

	// ObservedAt is when the Tenant came into this state.
	// +required
	ObservedAt metav1.MicroTime `json:"observedAt"`

	// AcceptedAt is when kubeopera-api accepted it. Unset means that it has not yet.
	// +optional
	AcceptedAt *metav1.Time `json:"acceptedAt,omitempty"`
}

// A Tenant is one CloudSpace: a vCluster in a namespace of its own on a host
// cluster, walled in by a quota, with its kubeconfig in a Secret and with Flux and
// the customer's App Advisor inside it.
//
// A vCluster that is there already is only looked at with the managementPolicies
// [Observe]. With those that allow more, the annotation kubeopera.io/adopt, set to
// the name of its namespace on the host cluster, has the Tenant adopt it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=kt,categories={crossplane,managed,kubeopera}
// +kubebuilder:printcolumn:name="READY",type="string",JSONPath=".status.conditions[?(@.type=='Ready')].status"
// +kubebuilder:printcolumn:name="SYNCED",type="string",JSONPath=".status.conditions[?(@.type=='Synced')].status"
// +kubebuilder:printcolumn:name="PHASE",type="string",JSONPath=".status.phase"
// +kubebuilder:printcolumn:name="VCLUSTER",type="string",JSONPath=".status.vclusterName"
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="MESSAGE",type="string",JSONPath=".status.message",priority=1
type Tenant struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the CloudSpace that is wanted. Without a providerConfigRef it is
	// made by the ClusterProviderConfig named default. With a
	// writeConnectionSecretToRef the kubeconfig and its parts are also written
	// into that Secret.
	// +required
	Spec TenantSpec `json:"spec"`

	// Status is what was observed of it.
	// +optional
	// +kubebuilder:default={phase: "Pending"}
	Status TenantStatus `json:"status,omitempty"`
}

// TenantList is a list of Tenants.
//
// +kubebuilder:object:root=true
type TenantList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Tenant `json:"items"`
}
