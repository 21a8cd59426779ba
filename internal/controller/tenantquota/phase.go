// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantquota

import (
	"fmt"
	"slices"

	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
)

// Messages of a TenantQuota that waits for nothing.
const (
	messageNothing = "nothing has been made yet"
	messageReady   = "quota in place"
)

// summarize says where it stands by what was found. Failed is what became of an
// attempt to change something, nil if there was none.
func summarize(f *facts, failed error) inside.Summary {
	held := f.held()

	switch {
	case failed != nil:
		return inside.Unavailable(failed.Error())
	case len(held) == len(f.rooms) && len(held) == 1:
		return inside.Available(fmt.Sprintf("%s in namespace %s", messageReady, held[0]))
	case len(held) == len(f.rooms):
		return inside.Available(fmt.Sprintf("%s in %d namespaces", messageReady, len(held)))
	}

	for _, r := range f.rooms {
		if r.goingAway() {
			return inside.Creating(fmt.Sprintf("someone deleted %s; it is made anew once it is gone", r.namespace.Want))
		}
	}

	if !slices.ContainsFunc(f.objects(), func(o inside.Found) bool { return o.Live != nil }) {
		return inside.Creating(messageNothing)
	}

	return inside.Creating(fmt.Sprintf("%s in %d of %d namespaces", messageReady, len(held), len(f.rooms)))
}
