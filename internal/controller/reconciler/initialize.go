// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// Initialize gives mg that external name unless it has one, and clears the mark of
// a Create that never returned: its provider died, and what it made is found by
// name. It says whether anything changed, which is then to be written.
func Initialize(mg resource.Managed, externalName string) bool {
	named, died := meta.GetExternalName(mg) != "", meta.ExternalCreateIncomplete(mg)

	if !named {
		meta.SetExternalName(mg, externalName)
	}

	if died {
		meta.RemoveAnnotations(mg, meta.AnnotationKeyExternalCreatePending)
	}

	return !named || died
}
