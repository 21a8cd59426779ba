// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ProviderConfigSpec says on which host cluster Tenants live, and with what
// defaults. Its Secrets lie in the namespace of the ProviderConfig. It may say
// where charts and images come from, and how Tenants are isolated, only for a host
// cluster of its own.
//
// +kubebuilder:validation:XValidation:rule="self.credentials.source == 'Secret' || !(has(self.imageRegistry) || (has(self.chart) && (has(self.chart.repository) || has(self.chart.caBundle) || (has(self.chart.plainHTTP) && self.chart.plainHTTP))))",message="chart.repository, chart.plainHTTP, chart.caBundle and imageRegistry need credentials.source Secret in a ProviderConfig, since charts and images run with the rights of the host's credentials: set them in a ClusterProviderConfig"
// +kubebuilder:validation:XValidation:rule="self.credentials.source == 'Secret' || !((has(self.fluxChart) && (has(self.fluxChart.repository) || has(self.fluxChart.caBundle) || (has(self.fluxChart.plainHTTP) && self.fluxChart.plainHTTP))))",message="fluxChart.repository, fluxChart.plainHTTP and fluxChart.caBundle need credentials.source Secret in a ProviderConfig, since charts and images run with the rights of the host's credentials: set them in a ClusterProviderConfig"
// +kubebuilder:validation:XValidation:rule="self.credentials.source == 'Secret' || !(has(self.isolation) || has(self.allowedValuesOverrides))",message="isolation and allowedValuesOverrides need credentials.source Secret in a ProviderConfig, since they say what Tenants may do to the host cluster: set them in the ClusterProviderConfig named default"
type ProviderConfigSpec struct {
	// Credentials of the host cluster.
	// +optional
	// +kubebuilder:default={source: "InjectedIdentity"}
	Credentials LocalCredentials `json:"credentials,omitzero"`

	// Chart says where the vCluster chart comes from.
	// +optional
	Chart *LocalChartSource `json:"chart,omitempty"`

	// FluxChart says where the flux2 chart comes from. Its repository defaults to
	// oci://ghcr.io/fluxcd-community/charts/flux2.
	// +optional
	FluxChart *LocalChartSource `json:"fluxChart,omitempty"`

	HostDefaults `json:",inline"`
}

// ClusterProviderConfigSpec says on which host cluster Tenants of any
// namespace live, and with what defaults.
type ClusterProviderConfigSpec struct {
	// Credentials of the host cluster.
	// +optional
	// +kubebuilder:default={source: "InjectedIdentity"}
	Credentials Credentials `json:"credentials,omitzero"`

	// Chart says where the vCluster chart comes from.
	// +optional
	Chart *ChartSource `json:"chart,omitempty"`

	// FluxChart says where the flux2 chart comes from. Its repository defaults to
	// oci://ghcr.io/fluxcd-community/charts/flux2.
	// +optional
	FluxChart *ChartSource `json:"fluxChart,omitempty"`

	// AllowedNamespaces are the namespaces whose Tenants may use this configuration.
	// Unset allows all. Tenants that use it and are not allowed any more are left as they
	// are until they are deleted. ProviderConfigs that take defaults from the
	// configuration named default are not bound by it.
	// +optional
	AllowedNamespaces *AllowedNamespaces `json:"allowedNamespaces,omitempty"`

	HostDefaults `json:",inline"`
}

// AllowedNamespaces are the namespaces that are listed, and those that are selected. With
// neither they are none.
type AllowedNamespaces struct {
	// List of names of namespaces.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`
	// +listType=set
	List []string `json:"list,omitempty"`

	// Selector of labels that namespaces have, such as kubernetes.io/metadata.name. One
	// that is empty selects all namespaces.
	// +optional
	// +kubebuilder:validation:XValidation:rule="(!has(self.matchLabels) || size(self.matchLabels) <= 64) && (!has(self.matchExpressions) || size(self.matchExpressions) <= 64)",message="allowedNamespaces.selector must have at most 64 matchLabels and 64 matchExpressions"
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// HostDefaults are what all Tenants of one host cluster share.
type HostDefaults struct {
	// ImageRegistry is put before the name of each image that the vCluster and
	// flux2 charts run, such as registry.example.org/mirror. Unset means the charts' own registries.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	ImageRegistry string `json:"imageRegistry,omitempty"`

	// Isolation is what walls Tenants off from each other and from the host
	// cluster, beside their quota. A ProviderConfig with the identity of the provider
	// has that of the ClusterProviderConfig named default.
	// +optional
	Isolation *Isolation `json:"isolation,omitempty"`

	// AllowedValuesOverrides are the paths of the vCluster chart's values that
	// vcluster.valuesOverrides of a Tenant may set, such as controlPlane.coredns. A path
	// allows all that is below it, and * allows everything: whoever writes a Tenant
	// then has the provider's rights on the host cluster. Unset allows what
	// does not weaken the isolation of Tenants, an empty list nothing.
	// A ProviderConfig with the identity of the provider has those of the
	// ClusterProviderConfig named default.
	// +optional
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=256
	// +kubebuilder:validation:items:Pattern=`^([*]|[A-Za-z0-9_-]+([.][A-Za-z0-9_-]+)*)$`
	// +listType=set
	AllowedValuesOverrides []string `json:"allowedValuesOverrides,omitzero"`
}

// PodSecurityLevel is a Pod Security Standard of Kubernetes.
//
// +kubebuilder:validation:Enum=privileged;baseline;restricted
type PodSecurityLevel string

// Pod Security Standards, from none to the strictest.
// See https://kubernetes.io/docs/concepts/security/pod-security-standards/
const (
	PodSecurityPrivileged PodSecurityLevel = "privileged"
	PodSecurityBaseline   PodSecurityLevel = "baseline"
	PodSecurityRestricted PodSecurityLevel = "restricted"
)

// Isolation is what walls the pods of a Tenant off. Pods of a Tenant always
// reach each other and the host cluster's DNS, and its control plane the
// host cluster's API. Pods of another Tenant they reach only by a rule that says so.
type Isolation struct {
	// PodSecurity is the Pod Security Standard that pods in the host namespaces
	// must meet, the control plane's included. It refuses pods that are made, and
	// stops none that run. Under restricted, Tenants need valuesOverrides by which the
	// control plane and CoreDNS run without root and with a seccomp profile, since
	// as their charts make them they do not.
	// +optional
	// +kubebuilder:default=baseline
	PodSecurity PodSecurityLevel `json:"podSecurity,omitempty"`

	// Egress says what else the pods of a Tenant may reach, as in a NetworkPolicy. Unset
	// allows the public networks, which are all addresses but those for private use,
	// an empty list nothing. A host cluster whose pods or nodes have public
	// addresses needs a list that leaves them out, here and in ingress.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Egress []networkingv1.NetworkPolicyEgressRule `json:"egress,omitzero"`

	// Ingress says who else may reach the pods of a Tenant, as in a NetworkPolicy.
	// Unset allows pods of namespaces that are no Tenant's, such as an ingress
	// controller or the provider, and the public networks. A list replaces that: without the
	// provider in it no Tenant becomes Ready. A provider that comes from a private
	// address, as from another cluster, needs a list with that address.
	// +optional
	// +kubebuilder:validation:MaxItems=64
	// +listType=atomic
	Ingress []networkingv1.NetworkPolicyIngressRule `json:"ingress,omitzero"`
}

// Credentials of a host cluster.
//
// +kubebuilder:validation:XValidation:rule="self.source != 'Secret' || has(self.secretRef)",message="credentials.secretRef is required when credentials.source is Secret"
type Credentials struct {
	// Source of the credentials: InjectedIdentity is the cluster that the
	// provider runs in, Secret is a kubeconfig in a Secret.
	// +required
	// +kubebuilder:validation:Enum=InjectedIdentity;Secret
	Source xpv2.CredentialsSource `json:"source"`

	// SecretRef is the key of the Secret that holds the kubeconfig.
	// +optional
	SecretRef *xpv2.SecretKeySelector `json:"secretRef,omitempty"`
}

// LocalCredentials of a host cluster, in the namespace of their owner.
//
// +kubebuilder:validation:XValidation:rule="self.source != 'Secret' || has(self.secretRef)",message="credentials.secretRef is required when credentials.source is Secret"
type LocalCredentials struct {
	// Source of the credentials: InjectedIdentity is the cluster that the
	// provider runs in, Secret is a kubeconfig in a Secret.
	// +required
	// +kubebuilder:validation:Enum=InjectedIdentity;Secret
	Source xpv2.CredentialsSource `json:"source"`

	// SecretRef is the key of the Secret that holds the kubeconfig.
	// +optional
	SecretRef *xpv2.LocalSecretKeySelector `json:"secretRef,omitempty"`
}

// Chart says where a Helm chart comes from.
type Chart struct {
	// Repository of the chart, with its name: in an OCI registry, or in a chart
	// repository with an index.yaml. Unset means where its project publishes it, such
	// as oci://ghcr.io/loft-sh/charts/vcluster.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^(oci|https|http)://.+/.+$')",message="repository must be a URL with the chart's name, such as oci://ghcr.io/loft-sh/charts/vcluster or https://charts.loft.sh/vcluster"
	Repository string `json:"repository,omitempty"`

	// Version that Tenants get who name none. Unset means the provider's
	// default. A change upgrades all Tenants that name none.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^v?[0-9]+[.][0-9]+[.][0-9]+(-[0-9A-Za-z.-]+)?$')",message="version must be an exact version, such as 0.36.1"
	Version string `json:"version,omitempty"`

	// PlainHTTP asks the registry by HTTP instead of HTTPS.
	// +optional
	PlainHTTP bool `json:"plainHTTP,omitempty"`

	// CABundle holds PEM certificates that the registry's certificate is
	// checked against, besides the system's.
	// +optional
	// +kubebuilder:validation:MaxLength=1048576
	CABundle []byte `json:"caBundle,omitempty"`
}

// ChartSource is a chart and the credentials of its registry.
type ChartSource struct {
	Chart `json:",inline"`

	// PullSecretRef is a Secret of type kubernetes.io/dockerconfigjson with
	// the registry's credentials.
	// +optional
	PullSecretRef *xpv2.SecretReference `json:"pullSecretRef,omitempty"`
}

// LocalChartSource is a chart and the credentials of its registry, in the
// namespace of their owner.
type LocalChartSource struct {
	Chart `json:",inline"`

	// PullSecretRef is a Secret of type kubernetes.io/dockerconfigjson with
	// the registry's credentials.
	// +optional
	PullSecretRef *xpv2.LocalSecretReference `json:"pullSecretRef,omitempty"`
}

// ProviderConfigStatus is what was observed of a provider configuration.
type ProviderConfigStatus struct {
	xpv2.ProviderConfigStatus `json:",inline"`
}

// A ProviderConfig says on which host cluster the Tenants of its namespace
// live, and with what defaults.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,providerconfig,kubeopera}
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="USERS",type="integer",JSONPath=".status.users"
type ProviderConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says which host cluster.
	// +required
	Spec ProviderConfigSpec `json:"spec"`

	// Status is what was observed of it.
	// +optional
	Status ProviderConfigStatus `json:"status,omitempty"`
}

// ProviderConfigList is a list of ProviderConfigs.
//
// +kubebuilder:object:root=true
type ProviderConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ProviderConfig `json:"items"`
}

// A ClusterProviderConfig says on which host cluster Tenants of any namespace
// live, and with what defaults. Tenants use the one named default unless they
// say otherwise.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories={crossplane,providerconfig,kubeopera}
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="USERS",type="integer",JSONPath=".status.users"
type ClusterProviderConfig struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says which host cluster.
	// +required
	Spec ClusterProviderConfigSpec `json:"spec"`

	// Status is what was observed of it.
	// +optional
	Status ProviderConfigStatus `json:"status,omitempty"`
}

// ClusterProviderConfigList is a list of ClusterProviderConfigs.
//
// +kubebuilder:object:root=true
type ClusterProviderConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ClusterProviderConfig `json:"items"`
}

// A ProviderConfigUsage records that a managed resource uses a ProviderConfig
// or a ClusterProviderConfig. One that is deleted is gone only when no usage of it
// is left.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced,categories={crossplane,providerconfig,kubeopera}
// +kubebuilder:printcolumn:name="AGE",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="CONFIG-KIND",type="string",JSONPath=".providerConfigRef.kind"
// +kubebuilder:printcolumn:name="CONFIG-NAME",type="string",JSONPath=".providerConfigRef.name"
// +kubebuilder:printcolumn:name="RESOURCE-KIND",type="string",JSONPath=".resourceRef.kind"
// +kubebuilder:printcolumn:name="RESOURCE-NAME",type="string",JSONPath=".resourceRef.name"
type ProviderConfigUsage struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	xpv2.TypedProviderConfigUsage `json:",inline"`
}

// ProviderConfigUsageList is a list of ProviderConfigUsages.
//
// +kubebuilder:object:root=true
type ProviderConfigUsageList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ProviderConfigUsage `json:"items"`
}
