// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

// Names of the CoreDNS that a vCluster runs as a Deployment inside of itself.
const (
	DNSNamespace  = "kube-system"
	DNSDeployment = "coredns"
)

// DNSLabels select the pods of that CoreDNS.
func DNSLabels() map[string]string {
	return map[string]string{"k8s-app": "vcluster-kube-dns"}
}

// RunsDNS says whether a vCluster with these values runs that CoreDNS: it may be
// turned off, be part of the control plane, or be made by manifests of one's own.
func RunsDNS(values map[string]any) bool {
	const part = "coredns"

	manifests, _ := at(values, "controlPlane", part, "overwriteManifests").(string)

	return at(values, "controlPlane", part, "enabled") != false &&
		at(values, "controlPlane", part, "embedded") != true && manifests == ""
}
