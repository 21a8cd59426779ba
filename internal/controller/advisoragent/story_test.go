// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisoragent

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/kubeopera/provider-kubeopera/internal/advisor"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

// TestR4EachCallFails holds that an AdvisorAgent comes to the same end, whichever
// call into the vCluster fails.
func TestR4EachCallFails(t *testing.T) {
	t.Parallel()

	t.Run("R4: creation", func(t *testing.T) {
		t.Parallel()
		insidetest.FailEachCall(t, 15, func(t *testing.T) insidetest.Story {
			w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)

			return insidetest.Story{VCluster: w.VCluster, Pass: func() bool {
				a := w.Reconcile("a")

				w.VCluster.Aside(func() {
					if w.Has(theDeployment()) {
						w.bringUp()
					}
				})

				return a.GetCondition(xpv2.TypeReady).Reason == xpv2.ReasonAvailable
			}}
		})
	})
	t.Run("R4: deletion", func(t *testing.T) {
		t.Parallel()
		insidetest.FailEachCall(t, 10, func(t *testing.T) insidetest.Story {
			w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
			w.arrive()
			w.Remove("a")

			return insidetest.Story{VCluster: w.VCluster, Pass: func() bool {
				gone := w.Reconcile("a") == nil

				w.VCluster.Aside(func() {
					if ns := namespace(); w.Has(ns) && ns.GetDeletionTimestamp() != nil {
						w.VCluster.EndNamespace(advisor.Namespace)
					}
				})

				return gone
			}}
		})
	})
}
