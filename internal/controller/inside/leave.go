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

// leaveBudget is how long the removal of something is tried inside a vCluster
// that is to go as a whole.
const leaveBudget = 15 * time.Second

// leave says whether an object that is being deleted may go although no read has
// shown that what it made is gone.
type leave struct {
	granted bool
	// because says in words why what is left is skipped. It is empty when nothing
	// can be left.
	because string
	// again is when to ask again; zero when no time changes the answer.
	again time.Time
}

// askLeave decides for mg, which is being deleted. The error says why what mg
// made was not seen to be gone. As long as its Tenant lives, nothing is left
// behind in the vCluster; what goes with the vCluster is not waited for.
func askLeave(mg resource.Managed, w Way, err error, now time.Time) leave {
	switch {
	case errors.Is(err, ErrNoTenant) && boundTo(mg) == "":
		return leave{granted: true} // It was never inside one.
	case errors.Is(err, ErrNoTenant):
		return leave{granted: true, because: err.Error()}
	case errors.Is(err, ErrNoKubeconfig) && w.Tenant.Status.KubeconfigSecret == "":
		return leave{granted: true} // Nobody could be inside yet.
	case w.Tenant == nil || !meta.WasDeleted(w.Tenant):
		return leave{}
	}

	end := deadline(mg, w)
	if now.Before(end) {
		return leave{again: end}
	}

	return leave{
		granted: true,
		because: fmt.Sprintf("Tenant %q is being deleted, and not all was removed within %s: %s", w.Tenant.GetName(), leaveBudget, err),
	}
}

// deadline is when the budget ends, which begins when both mg and its Tenant are
// being deleted.
func deadline(mg resource.Managed, w Way) time.Time {
	begin := mg.GetDeletionTimestamp().Time
	if t := w.Tenant.GetDeletionTimestamp().Time; t.After(begin) {
		begin = t
	}

	return begin.Add(leaveBudget)
}

// callTimeout bounds the calls into the vCluster in a pass of mg that begins now.
// While mg and its Tenant are being deleted it is what is left of their time, and
// at least a second for a last attempt.
func callTimeout(mg resource.Managed, w Way, now time.Time) time.Duration {
	if w.Tenant == nil || !meta.WasDeleted(w.Tenant) || !meta.WasDeleted(mg) {
		return passTimeout
	}

	return max(time.Second, min(passTimeout, deadline(mg, w).Sub(now)))
}
