// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// Initialize gives mg that external name unless it has one. It says whether that is to be
// written.
func Initialize(mg resource.Managed, externalName string) bool {
	if meta.GetExternalName(mg) != "" {
		return false
	}

	meta.SetExternalName(mg, externalName)

	return true
}
