// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// TenantOf is the Tenant that the object's annotation names, if it has one.
func TenantOf(o client.Object) (types.NamespacedName, bool) {
	namespace, name, ok := strings.Cut(o.GetAnnotations()[v1alpha1.AnnotationTenant], "/")
	if !ok || namespace == "" || name == "" {
		return types.NamespacedName{}, false
	}

	return types.NamespacedName{Namespace: namespace, Name: name}, true
}

// IndexTenantID is the field by which [Host.Cached] finds namespaces by the cloudSpaceID
// that their label tells.
const IndexTenantID = "metadata.labels." + v1alpha1.LabelTenantID

// TenantIDOf is what a namespace is found by under IndexTenantID.
func TenantIDOf(o client.Object) []string {
	id, ok := o.GetLabels()[v1alpha1.LabelTenantID]
	if !ok {
		return nil
	}

	return []string{id}
}
