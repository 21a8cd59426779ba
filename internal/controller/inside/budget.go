// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import "time"

// Budgets of the calls into a vCluster, whose API may hang. Their order matters: a
// removal has time for more than one pass, and AdvisorAgents and TenantQuotas are
// gone, with or without what they made, before the Tenant gives up what is inside.
const (
	// PassTimeout bounds all calls into one vCluster in one pass, so that one whose
	// API hangs stops nobody else.
	PassTimeout = 10 * time.Second
	// removalBudget is how long the removal of something is tried inside a vCluster
	// that is to go as a whole.
	removalBudget = 15 * time.Second
	// TenantBudget is how long a Tenant that is being deleted waits for the removal
	// of all that is inside its vCluster.
	TenantBudget = 20 * time.Second
)
