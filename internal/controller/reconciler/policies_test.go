// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

func TestPolicies(t *testing.T) {
	t.Parallel()

	const (
		observe = xpv2.ManagementActionObserve
		create  = xpv2.ManagementActionCreate
		update  = xpv2.ManagementActionUpdate
		deletes = xpv2.ManagementActionDelete
	)

	cases := map[string]struct {
		reason   string
		policies xpv2.ManagementPolicies
		want     Policies
		looks    bool
		// missing and there are what may be done about what is missing, and what is there.
		missing, there bool
	}{
		"All":     {"everything", xpv2.ManagementPolicies{xpv2.ManagementActionAll}, Policies{true, true, true}, false, true, true},
		"None":    {"which is not looked at at all", nil, Policies{true, true, true}, false, true, true},
		"Each":    {"everything, word by word", xpv2.ManagementPolicies{observe, create, update, deletes}, Policies{true, true, true}, false, true, true},
		"Observe": {"nothing", xpv2.ManagementPolicies{observe}, Policies{}, true, false, false},
		"Late":    {"nothing is filled in", xpv2.ManagementPolicies{observe, xpv2.ManagementActionLateInitialize}, Policies{}, true, false, false},
		"Delete":  {"to delete is not to change", xpv2.ManagementPolicies{observe, deletes}, Policies{Delete: true}, true, false, false},
		"Create":  {"only what is missing", xpv2.ManagementPolicies{observe, create}, Policies{Create: true}, false, true, false},
		"Update":  {"what was taken away is put back", xpv2.ManagementPolicies{observe, update}, Policies{Update: true}, false, true, true},
	}
	for name, tc := range cases {
		mg := &v1alpha1.Tenant{}
		mg.SetManagementPolicies(tc.policies)

		got := PoliciesOf(mg)
		if got != tc.want || got.LooksOnly() != tc.looks || got.Allow(true) != tc.missing || got.Allow(false) != tc.there {
			t.Errorf("%s: %s: %+v, looks only: %t, allows %t, %t", name, tc.reason, got, got.LooksOnly(), got.Allow(true), got.Allow(false))
		}
	}
}

func TestIsPaused(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		annotation string
		policies   xpv2.ManagementPolicies
		want       bool
	}{
		"Neither":    {"", xpv2.ManagementPolicies{xpv2.ManagementActionAll}, false},
		"Annotation": {"true", xpv2.ManagementPolicies{xpv2.ManagementActionAll}, true},
		"False":      {"false", xpv2.ManagementPolicies{xpv2.ManagementActionAll}, false},
		"NoPolicy":   {"", nil, true},
	} {
		mg := &v1alpha1.Tenant{}
		mg.SetManagementPolicies(tc.policies)
		meta.AddAnnotations(mg, map[string]string{meta.AnnotationKeyReconciliationPaused: tc.annotation})

		if got := IsPaused(mg); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}
