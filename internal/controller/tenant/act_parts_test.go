// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// TestPartsPauseByThemselves holds that each part of a Tenant is tried again in its
// own time, whatever becomes of the others.
func TestPartsPauseByThemselves(t *testing.T) {
	t.Parallel()

	ours := map[string]bool{createQuota: true, createAgent: true, fluxInstall: true, fluxUpgrade: true, resize: true}

	cases := map[string]struct {
		reason string
		refuse string
		// first is what is tried at once, second what is at the end of the pause.
		first, second []string
		stage         string
	}{
		"Host":    {"the wall", resize, []string{createQuota, createAgent, fluxInstall}, nil, "ResourceQuota"},
		"Quota":   {"the TenantQuota", createQuota, []string{resize, createAgent, fluxInstall}, []string{resize}, "TenantQuota"},
		"Advisor": {"the AdvisorAgent", createAgent, []string{resize, createQuota, fluxInstall}, []string{resize}, "AdvisorAgent"},
		"Flux":    {"Flux's namespace", fluxNamespace, []string{resize, createQuota, createAgent}, []string{resize}, "flux-system"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, b := newWorld(t), alice().WithFlux("").Advisor("advisor:v1")
			w.mustPass(b.Obj())
			w.bringUp(b.Obj())

			tried := 0
			w.refuseWrites = func(a string) error {
				if a != tc.refuse {
					return nil
				}

				tried++

				return errInjected
			}

			pass := func(at time.Duration, want []string, attempts int) {
				t.Helper()
				w.clock.SetTime(epoch.Add(at))
				w.journal.clear()
				b.Spec.Quota.CPU.Add(resource.MustParse("1")) // So that the wall is to change.

				tried = 0

				_, err := w.pass(b.Obj())
				if !errors.Is(err, errInjected) || !strings.Contains(err.Error(), tc.stage) || tried != attempts {
					t.Errorf("%s, at %s: tried %d times, want %d: %v", tc.reason, at, tried, attempts, err)
				}

				var got []string

				for _, a := range w.journal.take() {
					if ours[a] {
						got = append(got, a)
					}
				}

				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, at %s: -want, +got:\n%s", tc.reason, at, diff)
				}
			}

			pass(0, tc.first, 1)
			pass(time.Second, tc.second, 0)
			pass(2*time.Second, tc.second, 1)
			pass(5*time.Second, tc.second, 0)

			w.refuseWrites = func(string) error { return nil }
			w.clock.SetTime(epoch.Add(time.Hour))
			w.mustPass(b.Obj())

			if b.Status.Phase != v1alpha1.PhaseReady || len(w.failures.by) > 0 {
				t.Errorf("%s: %s: %s, remembered %v", tc.reason, b.Status.Phase, b.Status.Message, w.failures.by)
			}
		})
	}
}

// TestHealedPartIsForgotten holds that a failure which healed by itself is forgotten,
// although another part is still to be done.
func TestHealedPartIsForgotten(t *testing.T) {
	t.Parallel()

	w, b := newWorld(t), alice()
	w.arrive(b.Obj())

	for _, p := range parts {
		w.failures.add(b.Obj(), p, v1alpha1.TypeQuotaApplied, errInjected, epoch.Add(-time.Hour))
	}

	b.Overrides(`{"a": 1}`)
	w.mustPass(b.Obj())

	if len(w.failures.by) > 0 {
		t.Errorf("remembered: %v", w.failures.by)
	}
}

// TestAllFailuresAreTold holds that of several parts that fail each is in its
// condition and in the error, and the first in the message.
func TestAllFailuresAreTold(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().WithFlux("").Advisor("advisor:v1").Obj()
	w.mustPass(tn)
	w.bringUp(tn)

	w.refuseWrites = func(a string) error {
		if a == createAgent || a == createQuota || a == fluxNamespace {
			return errInjected
		}

		return nil
	}

	_, err := w.pass(tn)
	for ct, says := range map[string]string{
		string(v1alpha1.TypeQuotaApplied): "TenantQuota", string(v1alpha1.TypeAdvisorReady): "AdvisorAgent", string(v1alpha1.TypeFluxReady): "flux-system",
	} {
		found := false
		for _, c := range tn.Status.Conditions {
			found = found || (string(c.Type) == ct && c.Reason == v1alpha1.ReasonFailed && strings.Contains(c.Message, says))
		}

		if err == nil || !strings.Contains(err.Error(), says) || !found {
			t.Errorf("%s does not say %q: %v, %v", ct, says, err, tn.Status.Conditions)
		}
	}

	if tn.Status.Phase != v1alpha1.PhaseFailed || !strings.Contains(tn.Status.Message, "TenantQuota") {
		t.Errorf("%s: %s", tn.Status.Phase, tn.Status.Message)
	}
}
