// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantquota

import (
	"fmt"
	"slices"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
)

// Messages of a TenantQuota that waits for nothing.
const (
	messageNothing = "nothing has been made yet"
	messageReady   = "quota in place"
)

// Summarize says which namespaces hold the quota.
func (h handler) Summarize(_ inside.Pass, q *v1alpha1.TenantQuota, f *facts, failed error) inside.Summary {
	q.Status.Namespaces = f.held()

	return summarize(f, failed)
}

// Unknown says why it could not be looked at.
func (h handler) Unknown(was xpv2.Condition, err error) inside.Summary {
	return inside.Unknown(was, messageReady, err)
}

// summarize says where it stands by what was found.
func summarize(f *facts, failed error) inside.Summary {
	held := f.held()

	switch {
	case len(held) == len(f.namespaces) && len(held) == 1:
		return inside.Available(fmt.Sprintf("%s in namespace %s", messageReady, held[0]), failed)
	case len(held) == len(f.namespaces):
		return inside.Available(fmt.Sprintf("%s in %d namespaces", messageReady, len(held)), failed)
	case failed != nil:
		return inside.Unavailable(failed.Error())
	}

	for _, n := range f.namespaces {
		if n.goingAway() {
			return inside.Creating(fmt.Sprintf("someone deleted %s; it is made anew once it is gone", n.namespace.Want))
		}
	}

	if !slices.ContainsFunc(f.objects(), func(o inside.Found) bool { return o.Live != nil }) {
		return inside.Creating(messageNothing)
	}

	return inside.Creating(fmt.Sprintf("%s in %d of %d namespaces", messageReady, len(held), len(f.namespaces)))
}
