// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// KeyConfig is the key of the exported Secret that holds the kubeconfig.
const KeyConfig = "config"

const (
	// LabelApp is the label that the chart puts on every object it makes, with the value AppName or EtcdAppName.
	LabelApp = "app"
	// AppName is the value of LabelApp.
	AppName = "vcluster"
	// EtcdAppName is its value on an etcd that the chart deploys.
	EtcdAppName = "vcluster-etcd"
	// LabelRelease is the chart's label that carries the release name.
	LabelRelease = "release"
	// LabelSyncedBy marks what a virtual cluster syncs to the host. Its value is the release name on
	// namespaced objects and ClusterSyncOwner on cluster-scoped ones.
	LabelSyncedBy = "vcluster.loft.sh/managed-by"
)

// ServicePort is the port of the control plane's Service.
const ServicePort = 443

// maxName is where both the chart and vCluster cut the names that they build.
const maxName = 63

// ReleaseName is the name of the Tenant's Helm release.
func ReleaseName(tenantName string) string {
	return "vc-" + tenantName
}

// HostNamespace is the namespace of the host cluster that holds the Tenant's virtual cluster.
func HostNamespace(tenantName string) string {
	return "vcluster-" + tenantName
}

// KubeconfigSecretName is the name of the Secret in which a CloudSpace's kubeconfig is published.
func KubeconfigSecretName(cloudSpaceID string) string {
	return "tenant-" + cloudSpaceID + "-kubeconfig"
}

// ExportedSecretName is the name of the Secret in the host namespace to which vCluster exports the
// kubeconfig of a release.
func ExportedSecretName(release string) string {
	return "vc-" + release
}

// ControlPlaneLabels select a release's control plane: its StatefulSet or Deployment, its pods and the
// volume claims that the StatefulSet makes.
func ControlPlaneLabels(release string) map[string]string {
	return map[string]string{LabelApp: AppName, LabelRelease: release}
}

// ServiceHost is the DNS name of the control plane's Service inside the host cluster, without the
// cluster domain, so that it resolves whatever that domain is.
func ServiceHost(release, namespace string) string {
	return release + "." + namespace + ".svc"
}

// ClusterRoleNames are the names of the ClusterRoles that a release may own. The ClusterRoleBindings
// have the same names. The chart makes the first when a cluster-wide sync is on, and the second when
// namespaces are synced.
func ClusterRoleNames(release, namespace string) []string {
	return []string{
		chartName("vc-" + release + "-v-" + namespace),
		chartName("vc-mn-" + release + "-v-" + namespace),
	}
}

// chartName cuts a name as the chart's templates do.
func chartName(name string) string {
	if len(name) > maxName {
		name = name[:maxName]
	}

	return strings.TrimSuffix(name, "-")
}

// ClusterSyncOwner is the value of LabelSyncedBy on the cluster-scoped objects, such as
// PriorityClasses and PersistentVolumes, that a virtual cluster syncs to the host. They outlive the
// release and the namespace.
func ClusterSyncOwner(release, namespace string) string {
	const kept, digits = 52, 10

	name := namespace + "-x-" + release
	if len(name) <= maxName {
		return name
	}

	sum := sha256.Sum256([]byte(name))

	return strings.ReplaceAll(name[:kept]+"-"+hex.EncodeToString(sum[:])[:digits], ".-", "-")
}
