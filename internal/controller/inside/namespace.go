// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// whyNamespaceStays is what the conditions of a Namespace that is being deleted
// say of what holds it. It is empty for anything else.
func whyNamespaceStays(o *unstructured.Unstructured) string {
	if o.GetKind() != kindNamespace || o.GetDeletionTimestamp() == nil {
		return ""
	}

	ns := &corev1.Namespace{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, ns); err != nil {
		return ""
	}

	var words []string

	for _, c := range ns.Status.Conditions {
		if c.Status == corev1.ConditionTrue && c.Message != "" {
			words = append(words, c.Message)
		}
	}

	slices.Sort(words)

	return strings.Join(words, "; ")
}
