// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// TestIdentity holds who is refused: alice in each case, unless errs is empty.
func TestIdentity(t *testing.T) {
	t.Parallel()

	same := alice().Spec.CloudSpaceID
	later, earlier := epoch.Add(time.Second), epoch.Add(-time.Second)

	cases := map[string]struct {
		reason string
		// others are there besides alice, whose own namespace is mine.
		others []client.Object
		mine   []client.Object
		errs   []string
	}{
		"Alone":             {reason: "nobody else"},
		"AloneWithMine":     {reason: "her own namespace does not refuse her", mine: []client.Object{namespaceOf(alice().Obj()).Obj()}},
		"Bare":              {reason: "a namespace that nobody marked", others: []client.Object{bareNamespace("vcluster-alice-default").Obj()}, errs: []string{"vcluster-alice-default", "not made by this provider", "tenantName"}},
		"SameTenantName":    {reason: "the first of the tenantName is named", others: []client.Object{namespaceOf(alice().Named("first").UID("uid-first").Obj()).Obj()}, errs: []string{`"kubeopera-system/first"`, "tenantName"}},
		"HolderOfTheID":     {reason: "who has a namespace keeps the id, even if younger", others: []client.Object{namespaceOf(bob().ID(same).Obj()).Born(later).Obj()}, errs: []string{`"kubeopera-system/bob"`, "cloudSpaceID"}},
		"NewcomerAfterMine": {reason: "a newcomer never refuses who has a namespace", others: []client.Object{bob().ID(same).Born(earlier).Obj()}, mine: []client.Object{namespaceOf(alice().Obj()).Obj()}},
		"OlderHolder":       {reason: "of two holders the older keeps it", others: []client.Object{namespaceOf(bob().ID(same).Obj()).Born(earlier).Obj()}, mine: []client.Object{namespaceOf(alice().Obj()).Obj()}, errs: []string{`"kubeopera-system/bob"`}},
		"YoungerHolder":     {reason: "and the younger is refused", others: []client.Object{namespaceOf(bob().ID(same).Obj()).Born(later).Obj()}, mine: []client.Object{namespaceOf(alice().Obj()).Obj()}},
		"OlderNewcomer":     {reason: "of two newcomers the older gets it", others: []client.Object{bob().ID(same).Born(earlier).Obj()}, errs: []string{`"kubeopera-system/bob"`}},
		"YoungerNewcomer":   {reason: "and the younger is refused", others: []client.Object{bob().ID(same).Born(later).Obj()}},
		"SameSecondBefore":  {reason: "of the same second the smaller UID gets it", others: []client.Object{bob().ID(same).UID("uid-aaa").Obj()}, errs: []string{`"kubeopera-system/bob"`}},
		"SameSecondAfter":   {reason: "and the greater is refused", others: []client.Object{bob().ID(same).UID("uid-zzz").Obj()}},
		"OtherID":           {reason: "another id is none of her business", others: []client.Object{bob().Born(earlier).Obj(), namespaceOf(bob().Obj()).Obj()}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tn := alice().Phase(v1alpha1.PhaseReady).Obj()
			w := newWorld(t, append(append([]client.Object{tn.DeepCopy()}, tc.mine...), tc.others...)...)

			_, err := w.pass(tn)
			if errors.Is(err, errConflict) != (len(tc.errs) > 0) {
				t.Fatalf("%s: got error %v", tc.reason, err)
			}

			if len(tc.errs) == 0 {
				return
			}

			for _, s := range tc.errs {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%s: %q does not say %q", tc.reason, err, s)
				}
			}

			if got := w.journal.take(); len(got) > 0 {
				t.Errorf("%s: who is refused touched %v", tc.reason, got)
			}

			if c := tn.GetCondition(v1alpha1.TypeBoundaryReady); c.Reason != v1alpha1.ReasonConflict || tn.Status.Phase != v1alpha1.PhaseFailed || tn.Status.Message != err.Error() {
				t.Errorf("%s: phase %s, reason %s, message %q", tc.reason, tn.Status.Phase, c.Reason, tn.Status.Message)
			}
		})
	}
}

// TestIdentityIsDecidedOnce holds that of two Tenants with one id exactly one is
// refused, whoever looks first.
func TestIdentityIsDecidedOnce(t *testing.T) {
	t.Parallel()

	for _, aliceFirst := range []bool{true, false} {
		a, b := alice().Obj(), bob().ID(alice().Spec.CloudSpaceID).Obj()
		w := newWorld(t, a.DeepCopy(), b.DeepCopy())
		order := []*v1alpha1.Tenant{a, b, a, b}

		if !aliceFirst {
			order = []*v1alpha1.Tenant{b, a, b, a}
		}

		refused := map[string]int{}

		for _, tn := range order {
			if _, err := w.pass(tn); errors.Is(err, errConflict) {
				refused[tn.GetName()]++
			} else if err != nil {
				t.Fatal(err)
			}
		}

		// Both are of the same second, so the smaller UID has it.
		if refused["alice-default"] != 0 || refused["bob"] != 2 {
			t.Errorf("alice first: %t: refused %v, want bob twice", aliceFirst, refused)
		}
	}
}
