// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
)

// Policies are what an object's managementPolicies allow besides to look.
type Policies struct {
	// Create says that what is missing may be made.
	Create bool
	// Update says that what is there may be changed, and what was taken from it be
	// put back.
	Update bool
	// Delete says that what was made goes with the object.
	Delete bool
}

// PoliciesOf mg. One without any is paused and does not come this far, so that they
// stand for all.
func PoliciesOf(mg resource.Managed) Policies {
	p := mg.GetManagementPolicies()
	if len(p) == 0 {
		p = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	}

	r := managed.NewManagementPoliciesResolver(true, p)

	return Policies{Create: r.ShouldCreate(), Update: r.ShouldUpdate(), Delete: r.ShouldDelete()}
}

// LooksOnly says that nothing may be made or changed.
func (p Policies) LooksOnly() bool { return !p.Create && !p.Update }

// Allow says whether something may be done, which makes what is missing or else
// changes what is there.
func (p Policies) Allow(missing bool) bool { return p.Update || (p.Create && missing) }

// IsPaused says whether mg is paused, by its annotation or without any policy.
func IsPaused(mg resource.Managed) bool {
	return meta.IsPaused(mg) || len(mg.GetManagementPolicies()) == 0
}
