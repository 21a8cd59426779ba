// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"errors"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
)

// orphaning says whether an object that is being deleted may go although no read
// has shown that what it made is gone.
type orphaning struct {
	allowed bool
	// because says in words why what is left is skipped. It is empty when nothing
	// can be left.
	because string
	// again is when to ask again; zero when no time changes the answer.
	again time.Time
}

// mayOrphan decides for mg, which is being deleted. The error says why what mg
// made was not seen to be gone. As long as its Tenant lives, nothing is left
// behind in the vCluster; what goes with the vCluster is not waited for.
func mayOrphan(mg resource.Managed, t Target, err error, now time.Time) orphaning {
	switch {
	case errors.Is(err, errNoTenant) && boundTo(mg) == "":
		return orphaning{allowed: true} // It was never inside one.
	case errors.Is(err, errNoTenant):
		return orphaning{allowed: true, because: err.Error()}
	case errors.Is(err, errNoKubeconfig) && t.Tenant.Status.KubeconfigSecret == "":
		return orphaning{allowed: true} // Nobody could be inside yet.
	case t.Tenant == nil || !meta.WasDeleted(t.Tenant):
		return orphaning{}
	}

	end := deadline(mg, t)
	if now.Before(end) {
		return orphaning{again: end}
	}

	return orphaning{
		allowed: true,
		because: fmt.Sprintf("Tenant %q is being deleted, and not all was removed within %s: %s", t.Tenant.GetName(), removalBudget, err),
	}
}

// deadline is when the budget ends, which begins when both mg and its Tenant are
// being deleted.
func deadline(mg resource.Managed, t Target) time.Time {
	begin := mg.GetDeletionTimestamp().Time
	if tenant := t.Tenant.GetDeletionTimestamp().Time; tenant.After(begin) {
		begin = tenant
	}

	return begin.Add(removalBudget)
}

// callTimeout bounds the calls into the vCluster in a pass of mg that begins now.
// While mg and its Tenant are being deleted it is what is left of their time, and
// at least a second for a last attempt.
func callTimeout(mg resource.Managed, t Target, now time.Time) time.Duration {
	if t.Tenant == nil || !meta.WasDeleted(t.Tenant) || !meta.WasDeleted(mg) {
		return PassTimeout
	}

	return max(time.Second, min(PassTimeout, deadline(mg, t).Sub(now)))
}
