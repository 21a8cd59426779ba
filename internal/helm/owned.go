// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

// What Helm puts on the objects of a release, and looks for before it takes one over.
// See https://helm.sh/docs/chart_best_practices/labels/.
const (
	LabelManagedBy             = "app.kubernetes.io/managed-by"
	ManagedByHelm              = "Helm"
	AnnotationReleaseName      = "meta.helm.sh/release-name"
	AnnotationReleaseNamespace = "meta.helm.sh/release-namespace"
)
