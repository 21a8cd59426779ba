// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantquota

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

// TestR4EachCallFails holds that a TenantQuota comes to the same end, whichever call
// into the vCluster fails.
func TestR4EachCallFails(t *testing.T) {
	t.Parallel()

	t.Run("R4: creation", func(t *testing.T) {
		t.Parallel()
		insidetest.FailEachCall(t, 6, func(t *testing.T) insidetest.Story {
			w := newWorld(t, insidetest.Ready(insidetest.Quota("q"))...)

			return insidetest.Story{VCluster: w.VCluster, Pass: func() bool {
				return w.Reconcile("q").GetCondition(xpv2.TypeReady).Reason == xpv2.ReasonAvailable
			}}
		})
	})
	t.Run("R4: deletion", func(t *testing.T) {
		t.Parallel()
		insidetest.FailEachCall(t, 4, func(t *testing.T) insidetest.Story {
			w := newWorld(t, insidetest.Ready(insidetest.Quota("q"))...)
			w.arrive("q")
			w.Remove("q")

			return insidetest.Story{VCluster: w.VCluster, Pass: func() bool { return w.Reconcile("q") == nil }}
		})
	})
}
