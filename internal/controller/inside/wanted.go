// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	kindNamespace          = "Namespace"
	kindDeployment         = "Deployment"
	kindClusterRoleBinding = "ClusterRoleBinding"
)

// Wanted is an object as it should be inside a vCluster.
type Wanted struct {
	*unstructured.Unstructured

	// Lock says that whoever has this object has those that follow it, too. Of
	// several that write it at once, the API server lets one win.
	Lock bool
}

// Want makes an object wanted. It must carry its kind and version.
func Want(o interface {
	metav1.Object
	runtime.Object
}, lock bool) (Wanted, error) {
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return Wanted{}, fmt.Errorf("cannot encode %T %q: %w", o, o.GetName(), err)
	}

	u := &unstructured.Unstructured{Object: raw}
	// What only the API server writes is not asked for.
	unstructured.RemoveNestedField(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(u.Object, "spec", "template", "metadata", "creationTimestamp")

	return Wanted{Unstructured: u, Lock: lock}, nil
}

// String names the object and where it is.
func (w Wanted) String() string { return nameOf(w.Unstructured) }

// nameOf names an object and where it is.
func nameOf(o *unstructured.Unstructured) string {
	if ns := o.GetNamespace(); ns != "" {
		return fmt.Sprintf("%s %q in namespace %q inside the vCluster", o.GetKind(), o.GetName(), ns)
	}

	return fmt.Sprintf("%s %q inside the vCluster", o.GetKind(), o.GetName())
}
