// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

// TestObservePolicies holds what the runtime is told to do, by what there is and what
// may be done.
func TestObservePolicies(t *testing.T) {
	t.Parallel()

	const (
		observe = xpv2.ManagementActionObserve
		create  = xpv2.ManagementActionCreate
		update  = xpv2.ManagementActionUpdate
	)

	var (
		absent    = fakeFacts{incomplete: true}
		partial   = fakeFacts{exists: true, incomplete: true}
		different = fakeFacts{exists: true}
		right     = fakeFacts{exists: true, settled: true}
		going     = fakeFacts{exists: true, settled: true, incomplete: true}
	)

	const kept, missing, well = "all well; it is not as the spec says", "do not allow to create it", "all well"

	cases := map[string]struct {
		reason         string
		facts          fakeFacts
		policies       xpv2.ManagementPolicies
		exists, settle bool
		says           string
	}{
		"ObserveAbsent":    {"nothing is there to look at", absent, xpv2.ManagementPolicies{observe}, false, true, missing},
		"ObservePartial":   {"a part of it", partial, xpv2.ManagementPolicies{observe}, true, false, kept},
		"ObserveDifferent": {"all of it is, and otherwise", different, xpv2.ManagementPolicies{observe}, true, false, kept},
		"ObserveRight":     {"all of it is", right, xpv2.ManagementPolicies{observe}, true, true, well},
		"CreateAbsent":     {"it is to be made", absent, xpv2.ManagementPolicies{observe, create}, false, false, well},
		"CreatePartial":    {"the rest is", partial, xpv2.ManagementPolicies{observe, create}, false, false, well},
		"CreateDifferent":  {"it is not to be changed", different, xpv2.ManagementPolicies{observe, create}, true, false, kept},
		"CreateGoing":      {"there is nothing to do but to wait", going, xpv2.ManagementPolicies{observe, create}, true, true, well},
		"UpdateAbsent":     {"it is not to be made", absent, xpv2.ManagementPolicies{observe, update}, false, true, missing},
		"UpdatePartial":    {"what is there is completed", partial, xpv2.ManagementPolicies{observe, update}, true, false, well},
		"AllPartial":       {"and repaired", partial, xpv2.ManagementPolicies{xpv2.ManagementActionAll}, true, false, well},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			a := insidetest.Policies(insidetest.Agent("a"), tc.policies...)

			e := newStage(t, insidetest.Tenant(), secretOf(insidetest.Tenant())).connect(t, &fakeHandler{facts: tc.facts}, a)

			got, err := e.Observe(t.Context(), a)
			if err != nil || got.ResourceExists != tc.exists || got.ResourceUpToDate != tc.settle {
				t.Errorf("%s: %+v, %v", tc.reason, got, err)
			}

			if !strings.Contains(a.Status.Message, tc.says) || (tc.says == well && a.Status.Message != well) {
				t.Errorf("%s: %q does not say %q", tc.reason, a.Status.Message, tc.says)
			}
		})
	}
}
