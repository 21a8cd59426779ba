// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"crypto/x509"
	"errors"
	"fmt"
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/isolation"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// everything may be done.
var everything = reconciler.Policies{Create: true, Update: true, Delete: true}

// readyFacts are those of a Tenant that lacks nothing.
func readyFacts(t *testing.T) *facts {
	t.Helper()

	k, err := vcluster.ParseKubeconfig(kubeconfig("admin"))
	if err != nil {
		t.Fatal(err)
	}

	return &facts{
		may: everything, names: namesOf(alice().Obj()),
		release:  &helm.Release{Revision: 1},
		boundary: boundary{namespace: namespaceOf(alice().Obj()).Obj(), quota: &corev1.ResourceQuota{}, limits: &corev1.LimitRange{}, policies: bothPolicies()},
		right:    true, state: releaseInSync, workload: controlPlaneFacts{found: true, ready: true},
		access: access{kubeconfig: k, published: true}, quotaRight: true, agentRight: true,
		children: children{noAgent: "no image", quota: readyQuota()},
	}
}

func bothPolicies() map[string]*networkingv1.NetworkPolicy {
	return map[string]*networkingv1.NetworkPolicy{isolation.ControlPlanePolicy: {}, isolation.TenantPolicy: {}}
}

// readyQuota is a TenantQuota that says that it is ready.
func readyQuota() *v1alpha1.TenantQuota {
	q := tenantQuota("alice-default", "alice-default")
	q.SetConditions(xpv2.Available().WithObservedGeneration(q.GetGeneration()))

	return q
}

func TestFacts(t *testing.T) {
	t.Parallel()

	type want struct {
		// reasons of the stages on the host, in their order.
		reasons     [4]xpv2.ConditionReason
		settled     bool
		mustPublish bool
		phase       v1alpha1.TenantPhase
		says        string
	}

	const (
		ok      = v1alpha1.ReasonDone
		wait    = v1alpha1.ReasonWaiting
		works   = v1alpha1.ReasonProgressing
		fails   = v1alpha1.ReasonFailed
		pending = v1alpha1.ReasonPendingChange
	)

	cases := map[string]struct {
		reason string
		change func(*facts)
		want   want
	}{
		"Ready": {
			"nothing lacks", func(*facts) {},
			want{[4]xpv2.ConditionReason{ok, ok, ok, ok}, true, false, v1alpha1.PhaseReady, "vCluster ready"},
		},
		"Nothing": {
			"nothing was made", func(f *facts) { *f = facts{may: everything, state: releaseAbsent} },
			want{[4]xpv2.ConditionReason{wait, wait, wait, wait}, false, false, v1alpha1.PhasePending, messagePending},
		},
		"NamespaceOnly": {
			"an interrupted creation", func(f *facts) {
				*f = facts{may: everything, boundary: boundary{namespace: f.boundary.namespace}, state: releaseAbsent, access: access{err: errNotReady}}
			},
			want{[4]xpv2.ConditionReason{works, wait, works, wait}, false, false, v1alpha1.PhaseProvisioning, "quota of the host namespace"},
		},
		"NamespaceGoing": {
			"someone deletes the namespace; there is nothing to do but to wait",
			func(f *facts) {
				f.boundary.namespace, f.boundary.limits, f.right = namespaceOf(alice().Obj()).Going(epoch).Obj(), nil, false
				f.state, f.reason, f.workload, f.access = releaseDrifted, "no control plane", controlPlaneFacts{}, access{err: errNotReady}
			},
			want{[4]xpv2.ConditionReason{works, works, works, wait}, true, false, v1alpha1.PhaseProvisioning, "someone deleted namespace"},
		},
		"LimitsGone": {
			"a quota without limits refuses pods", func(f *facts) { f.boundary.limits, f.right = nil, false },
			want{[4]xpv2.ConditionReason{works, ok, ok, ok}, false, false, v1alpha1.PhaseProvisioning, "not complete"},
		},
		"QuotaRaised": {
			"the wall follows and the Tenant stays Ready", func(f *facts) { f.right = false },
			want{[4]xpv2.ConditionReason{pending, ok, ok, ok}, false, false, v1alpha1.PhaseReady, "quota of the host namespace is to change"},
		},
		"OutOfSync": {
			"a change of the release leaves it working", func(f *facts) { f.state, f.reason = releaseOutOfSync, "values" },
			want{[4]xpv2.ConditionReason{ok, pending, ok, ok}, false, false, v1alpha1.PhaseReady, "values"},
		},
		"Locked": {
			"a young pending revision is left alone", func(f *facts) { f.state, f.reason = releaseLocked, "pending" },
			want{[4]xpv2.ConditionReason{ok, works, ok, ok}, true, false, v1alpha1.PhaseProvisioning, "pending"},
		},
		"Stale": {
			"a stale one is work to do", func(f *facts) { f.state, f.reason = releaseStale, "stale" },
			want{[4]xpv2.ConditionReason{ok, works, ok, ok}, false, false, v1alpha1.PhaseProvisioning, "stale"},
		},
		"StaleUpgrade": {
			"an upgrade left half-way does not stop what runs",
			func(f *facts) { f.state, f.reason, f.release = releaseStale, "stale", &helm.Release{Revision: 2} },
			want{[4]xpv2.ConditionReason{ok, pending, ok, ok}, false, false, v1alpha1.PhaseReady, "stale"},
		},
		"Drifted": {
			"a workload that is gone is repaired",
			func(f *facts) {
				f.state, f.reason, f.workload, f.access = releaseDrifted, "no control plane", controlPlaneFacts{}, access{err: errNotReady}
			},
			want{[4]xpv2.ConditionReason{ok, works, works, wait}, false, false, v1alpha1.PhaseProvisioning, "no control plane"},
		},
		"Failed": {
			"a failed revision of which nothing runs",
			func(f *facts) {
				f.state, f.reason, f.workload, f.access = releaseFailed, "hook failed", controlPlaneFacts{}, access{err: errNotReady}
			},
			want{[4]xpv2.ConditionReason{ok, fails, works, wait}, false, false, v1alpha1.PhaseFailed, "hook failed"},
		},
		"FailedRunning": {
			"a failed change does not stop what runs",
			func(f *facts) { f.state, f.reason = releaseFailed, "hook failed" },
			want{[4]xpv2.ConditionReason{ok, pending, ok, ok}, false, false, v1alpha1.PhaseReady, "hook failed"},
		},
		"InvalidRunning": {
			"a spec that cannot become a release does not stop what runs",
			func(f *facts) {
				f.state, f.reason, f.invalid, f.right = releaseInvalid, "bad field", errInjected, false
			},
			want{[4]xpv2.ConditionReason{ok, pending, ok, ok}, false, false, v1alpha1.PhaseReady, "bad field"},
		},
		"InvalidNotRunning": {
			"and is Failed when nothing runs",
			func(f *facts) {
				f.state, f.reason, f.invalid, f.workload, f.access = releaseInvalid, "bad field", errInjected, controlPlaneFacts{}, access{err: errNotReady}
			},
			want{[4]xpv2.ConditionReason{ok, fails, works, wait}, false, false, v1alpha1.PhaseFailed, "bad field"},
		},
		"UnknownState": {
			"a state that nobody handles is a failure and not Ready", func(f *facts) { f.state = "Nonsense" },
			want{[4]xpv2.ConditionReason{ok, fails, ok, ok}, false, false, v1alpha1.PhaseFailed, `release state "Nonsense" is not known`},
		},
		"Rolling": {
			"a control plane that rolls out answers, and is Ready", func(f *facts) { f.workload.rolling = true },
			want{[4]xpv2.ConditionReason{ok, ok, pending, ok}, true, false, v1alpha1.PhaseReady, "rolling out"},
		},
		"ControlPlaneNotReady": {
			"deployed but not ready is not Ready, and nothing to do", func(f *facts) { f.workload.ready, f.access = false, access{err: errNotReady} },
			want{[4]xpv2.ConditionReason{ok, ok, works, wait}, true, false, v1alpha1.PhaseProvisioning, errNotReady.Error()},
		},
		"Trouble": {
			"the host's own words", func(f *facts) {
				f.workload, f.access = controlPlaneFacts{found: true, trouble: "exceeded quota"}, access{err: errNotReady}
			},
			want{[4]xpv2.ConditionReason{ok, ok, works, wait}, true, false, v1alpha1.PhaseProvisioning, "exceeded quota"},
		},
		"APISilent": {
			"an API that does not answer is not Failed", func(f *facts) { f.access = access{err: errInjected} },
			want{[4]xpv2.ConditionReason{ok, ok, works, wait}, true, false, v1alpha1.PhaseProvisioning, errInjected.Error()},
		},
		"WrongName": {
			"waiting does not put a name into a certificate",
			func(f *facts) {
				f.access = access{err: fmt.Errorf("no answer: %w", x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"vc"}}, Host: "other"})}
			},
			want{[4]xpv2.ConditionReason{ok, ok, fails, wait}, true, false, v1alpha1.PhaseFailed, "other"},
		},
		"Unusable": {
			"an export that cannot be used", func(f *facts) { f.access = access{err: fmt.Errorf("%w: no cluster IP", errUnusable)} },
			want{[4]xpv2.ConditionReason{ok, ok, fails, wait}, true, false, v1alpha1.PhaseFailed, "no cluster IP"},
		},
		"MustPublish": {
			"a kubeconfig that works and is not published is published by the look itself", func(f *facts) { f.access.published = false },
			want{[4]xpv2.ConditionReason{ok, ok, ok, works}, true, true, v1alpha1.PhaseProvisioning, "to be published"},
		},
		"MustPublishWhileLocked": {
			"a lock does not hold back the kubeconfig", func(f *facts) { f.state, f.reason, f.access.published = releaseLocked, "pending", false },
			want{[4]xpv2.ConditionReason{ok, works, ok, works}, true, true, v1alpha1.PhaseProvisioning, "pending"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := readyFacts(t)
			tc.change(f)

			stages := f.stages()
			s := summarize(stages)
			got := want{settled: f.settled(), mustPublish: f.mustPublish(), phase: s.phase, says: tc.want.says}

			for i, c := range stages {
				if i < len(got.reasons) {
					got.reasons[i] = c.Reason
				}

				if c.Type != stageTypes[i] {
					t.Errorf("%s: stage %d is %s, want %s", tc.reason, i, c.Type, stageTypes[i])
				}
			}

			if !strings.Contains(s.message, tc.want.says) {
				t.Errorf("%s: message %q does not say %q", tc.reason, s.message, tc.want.says)
			}

			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(want{})); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			checkSummary(t, stages, s)
		})
	}
}

// TestSettled holds that what is inside counts only where there is a way in, and
// nothing while the namespace goes.
func TestSettled(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(*facts)
		want   bool
	}{
		"Ready":   {"nothing is to be done", func(*facts) {}, true},
		"Flux":    {"Flux is to be installed", func(f *facts) { f.flux = fluxFacts{may: everything, wanted: true, seen: true, state: releaseAbsent} }, false},
		"Agent":   {"the AdvisorAgent is to change", func(f *facts) { f.agentRight = false }, false},
		"Quota":   {"the TenantQuota is to change", func(f *facts) { f.quotaRight = false }, false},
		"NoWayIn": {"without a way in none of it can be", func(f *facts) { f.agentRight, f.quotaRight, f.access.kubeconfig = false, false, nil }, true},
		"Going": {"while the namespace goes nothing is", func(f *facts) {
			f.agentRight, f.boundary.namespace = false, namespaceOf(alice().Obj()).Going(epoch).Obj()
		}, true},
	}
	for name, tc := range cases {
		f := readyFacts(t)
		tc.change(f)

		if got := f.settled(); got != tc.want {
			t.Errorf("%s: %s: got %t, want %t", name, tc.reason, got, tc.want)
		}
	}
}

func TestIsUnusable(t *testing.T) {
	t.Parallel()

	if isUnusable(errors.New("connection refused")) || isUnusable(fmt.Errorf("x: %w", x509.UnknownAuthorityError{})) {
		t.Error("an API that does not answer yet, or with another CA, may answer later")
	}
}

// TestUnknown holds that an error says what could not be found out, and not in one more
// word that it could not.
func TestUnknown(t *testing.T) {
	t.Parallel()

	err := fmt.Errorf("what Flux does cannot be looked at now: %w", unknown(errInjected))
	if want := "what Flux does cannot be looked at now: " + errInjected.Error(); err.Error() != want {
		t.Errorf("want %q, got %q", want, err)
	}

	if !errors.Is(err, errUnknown) || !errors.Is(err, errInjected) {
		t.Errorf("%v is not what it was made of", err)
	}
}
