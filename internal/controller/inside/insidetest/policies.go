// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package insidetest

import xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

// PolicyCase is a set of management policies and what it lets an object do: make
// what is not there, repair what is, and take it away.
type PolicyCase struct {
	Policies                xpv2.ManagementPolicies
	Makes, Repairs, Removes bool
}

// PolicyCases are the sensible sets, by name.
func PolicyCases() map[string]PolicyCase {
	const (
		observe = xpv2.ManagementActionObserve
		create  = xpv2.ManagementActionCreate
		update  = xpv2.ManagementActionUpdate
		deletes = xpv2.ManagementActionDelete
	)

	return map[string]PolicyCase{
		"All":           {xpv2.ManagementPolicies{xpv2.ManagementActionAll}, true, true, true},
		"Observe":       {xpv2.ManagementPolicies{observe}, false, false, false},
		"NoDelete":      {xpv2.ManagementPolicies{observe, create, update, xpv2.ManagementActionLateInitialize}, true, true, false},
		"NoUpdate":      {xpv2.ManagementPolicies{observe, create, deletes}, true, false, true},
		"CreateOnly":    {xpv2.ManagementPolicies{observe, create}, true, false, false},
		"UpdateOnly":    {xpv2.ManagementPolicies{observe, update}, false, true, false},
		"ObserveDelete": {xpv2.ManagementPolicies{observe, deletes}, false, false, true},
	}
}
