// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/isolation"
)

// What a pass does about the isolation.
const (
	makeAPI, makeAll = "host create NetworkPolicy kubeopera-control-plane", "host create NetworkPolicy kubeopera-tenant"
	mendAPI, mendAll = "host patch NetworkPolicy kubeopera-control-plane", "host patch NetworkPolicy kubeopera-tenant"
	mendNamespace    = "host update Namespace vcluster-alice-default"
)

const enforce = "pod-security.kubernetes.io/enforce"

// isolated is how the provider configuration says that Tenants are isolated.
func (w *world) isolated(i *v1alpha1.Isolation) { w.defaults.Isolation = i }

// badRules are such as an API server refuses.
func badRules() *v1alpha1.Isolation {
	return &v1alpha1.Isolation{
		PodSecurity: v1alpha1.PodSecurityRestricted,
		Egress:      []networkingv1.NetworkPolicyEgressRule{{To: []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/33"}}}}},
	}
}

// withoutPolicies takes from a Tenant that is Ready what an older provider did not make.
func (w *world) withoutPolicies() {
	w.t.Helper()

	for _, name := range policyNames {
		w.remove(w.host, read[*networkingv1.NetworkPolicy](w, w.host, "vcluster-alice-default", name))
	}

	change(w, w.host, "", "vcluster-alice-default", func(ns *corev1.Namespace) {
		for label := range isolation.PodSecurity(nil) {
			delete(ns.Labels, label)
		}
	})
}

// did on the host and by Helm, without the creation that shows whose the namespace is.
func (w *world) did() []string {
	return without(w.doneOnHost(), "host create Namespace vcluster-alice-default")
}

// egressOf the NetworkPolicy, as it is.
func (w *world) egressOf(name string) []networkingv1.NetworkPolicyEgressRule {
	w.t.Helper()

	return read[*networkingv1.NetworkPolicy](w, w.host, "vcluster-alice-default", name).Spec.Egress
}

// TestIsolationFollows holds that a Ready Tenant is isolated as it is to be, in one
// pass with one write for each object, without Helm, and that it stays Ready.
func TestIsolationFollows(t *testing.T) {
	t.Parallel()

	edit := func(w *world, name string, fn func(*networkingv1.NetworkPolicy)) {
		change(w, w.host, aliceNamespace, name, fn)
	}

	cases := map[string]struct {
		reason string
		change func(*world)
		want   []string
	}{
		"Nothing":     {"what is right is left alone", func(*world) {}, nil},
		"OldProvider": {"an older provider made none of it", (*world).withoutPolicies, []string{mendNamespace, makeAPI, makeAll}},
		"Deleted": {"somebody deletes a policy", func(w *world) {
			w.remove(w.host, read[*networkingv1.NetworkPolicy](w, w.host, aliceNamespace, isolation.TenantPolicy))
		}, []string{makeAll}},
		"Opened": {"somebody opens it", func(w *world) {
			edit(w, isolation.TenantPolicy, func(p *networkingv1.NetworkPolicy) { p.Spec.Egress = []networkingv1.NetworkPolicyEgressRule{{}} })
		}, []string{mendAll}},
		"Narrowed": {"somebody selects fewer pods", func(w *world) {
			edit(w, isolation.TenantPolicy, func(p *networkingv1.NetworkPolicy) {
				p.Spec.PodSelector = metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
			})
		}, []string{mendAll}},
		"Unstamped": {"somebody takes a label off", func(w *world) {
			edit(w, isolation.ControlPlanePolicy, func(p *networkingv1.NetworkPolicy) { delete(p.Labels, v1alpha1.LabelUserID) })
		}, []string{mendAPI}},
		"Lowered": {"somebody lowers the standard", func(w *world) {
			change(w, w.host, "", aliceNamespace, func(n *corev1.Namespace) { n.Labels[enforce] = "privileged" })
		}, []string{mendNamespace}},
		"Aged": {"or pins an older one", func(w *world) {
			change(w, w.host, "", aliceNamespace, func(n *corev1.Namespace) { n.Labels[enforce+"-version"] = "v1.20" })
		}, []string{mendNamespace}},
		"Audited": {"what others ask Pod Security for is theirs", func(w *world) {
			change(w, w.host, "", aliceNamespace, func(n *corev1.Namespace) { n.Labels["pod-security.kubernetes.io/warn"] = "restricted" })
		}, nil},
		"Level": {"the configuration asks for another standard", func(w *world) {
			w.isolated(&v1alpha1.Isolation{PodSecurity: v1alpha1.PodSecurityRestricted})
		}, []string{mendNamespace}},
		"Rules": {"or for other rules", func(w *world) {
			w.isolated(&v1alpha1.Isolation{Egress: []networkingv1.NetworkPolicyEgressRule{}})
		}, []string{mendAll}},
		"Spelt": {"the default is no change", func(w *world) {
			w.isolated(&v1alpha1.Isolation{PodSecurity: v1alpha1.PodSecurityBaseline})
		}, nil},
		"Moved": {"the host's API moves", func(w *world) {
			change(w, w.host, "default", "kubernetes", func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].Addresses = []string{"10.89.0.2"} })
		}, []string{mendAPI}},
		"Grown": {"an API server joins", func(w *world) {
			more := hostAPI("10.89.0.3")
			more.Name = "kubernetes-more"
			w.add(more)
			w.journal.clear()
		}, []string{mendAPI}},
		"MovedPublic": {"to where only control planes are to reach it", func(w *world) {
			change(w, w.host, "default", "kubernetes", func(s *discoveryv1.EndpointSlice) { s.Endpoints[0].Addresses = []string{"9.9.9.9"} })
		}, []string{mendAPI, mendAll}},
		"Unusable": {"a spec that cannot become a release is no reason to leave it open", func(w *world) {
			w.withoutPolicies()
			w.defaults.chartVersion = "none"
		}, []string{mendNamespace, makeAPI, makeAll}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().Obj()
			w.arrive(tn)
			tc.change(w)

			if _, err := w.pass(tn); (err != nil) != (name == "Unusable") {
				t.Fatalf("%s: %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.want, w.did()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			if tn.Status.Phase != v1alpha1.PhaseReady {
				t.Errorf("%s: %s: %s", tc.reason, tn.Status.Phase, tn.Status.Message)
			}

			w.clock.SetTime(w.clock.Now().Add(time.Hour))
			_, _ = w.pass(tn)

			if got := w.did(); len(got) > 0 {
				t.Errorf("%s: and once more: %v", tc.reason, got)
			}
		})
	}
}

// TestIsolationOfNew holds that nothing is made of a Tenant that cannot be isolated, that
// its message says why, and that it comes as soon as that is mended.
func TestIsolationOfNew(t *testing.T) {
	t.Parallel()

	noAPI := func(w *world) { w.remove(w.host, hostAPI()) }

	cases := map[string]struct {
		reason string
		spoil  func(*world)
		mend   func(*world)
		says   []string
	}{
		"Rules": {
			"rules that an API server refuses", func(w *world) { w.isolated(badRules()) }, func(w *world) { w.isolated(nil) },
			[]string{`cannot use the isolation of ClusterProviderConfig "default"`, "corrected", "isolation.egress[0].to[0].ipBlock.cidr", `"10.0.0.0/33"`},
		},
		"NoAPI": {
			"a host that does not say where its API is", noAPI, func(w *world) { w.add(hostAPI("10.89.0.1")) },
			[]string{isolation.ErrNoAPI.Error(), "EndpointSlices", `"kubernetes"`},
		},
	}
	for name, tc := range cases {
		for made, before := range map[string]func(*world){
			"Nothing":   func(*world) {},
			"Namespace": func(w *world) { w.add(namespaceOf(alice().Obj()).Obj()) },
		} {
			t.Run(name+made, func(t *testing.T) {
				t.Parallel()

				w, tn := newWorld(t), alice().Obj()
				before(w)
				tc.spoil(w)
				w.journal.clear()

				_, err := w.pass(tn)
				checkErrors(t, tc.reason, err, tc.says)

				if c := tn.GetCondition(v1alpha1.TypeBoundaryReady); c.Reason != v1alpha1.ReasonFailed || c.Message != tn.Status.Message || tn.Status.Phase != v1alpha1.PhaseFailed {
					t.Errorf("%s: BoundaryReady is %s, %q; %s: %s", tc.reason, c.Reason, c.Message, tn.Status.Phase, tn.Status.Message)
				}

				if got := w.journal.take(); len(got) > 0 {
					t.Errorf("%s: made %v", tc.reason, got)
				}

				tc.mend(w)
				w.clock.SetTime(epoch.Add(time.Minute))
				w.arrive(tn)
			})
		}
	}
}

// TestIsolationKept holds that what runs stays isolated as it is, and Ready, as long as
// it cannot be said how it should be, and that both are told.
func TestIsolationKept(t *testing.T) {
	t.Parallel()

	gone := func(w *world) { w.remove(w.host, hostAPI()) }

	cases := map[string]struct {
		reason string
		change func(*world)
		want   []string
		says   []string
		errs   bool
	}{
		"Rules": {
			"bad rules change nothing, nor does what stands beside them", func(w *world) { w.isolated(badRules()) }, nil,
			[]string{"stays isolated as it is", aliceNamespace, "isolation.egress[0].to[0].ipBlock.cidr"}, false,
		},
		"NoAPI": {
			"to know no address of the host's API is not to know that there is none", gone, nil,
			[]string{"stays isolated as it is", isolation.ErrNoAPI.Error()}, false,
		},
		"NoAPIOtherRules": {
			"and holds nothing else back", func(w *world) {
				gone(w)
				w.isolated(&v1alpha1.Isolation{Egress: []networkingv1.NetworkPolicyEgressRule{}})
			}, []string{mendAll}, []string{"stays isolated as it is"}, false,
		},
		"NotYet": {
			"nobody is cut off from the host's API", func(w *world) {
				w.withoutPolicies()
				gone(w)
			}, nil, []string{`the NetworkPolicy "kubeopera-control-plane"`, isolation.ErrNoAPI.Error()}, true,
		},
		"NotYetRules": {
			"nor isolated by half", func(w *world) {
				w.withoutPolicies()
				w.isolated(badRules())
			}, nil, []string{"isolation.egress[0].to[0].ipBlock.cidr"}, true,
		},
		"Forbidden": {
			"the host forbids it", func(w *world) {
				w.withoutPolicies()
				w.refuseWrites = func(a string) error {
					if a == makeAPI {
						return errInjected
					}

					return nil
				}
			}, []string{mendNamespace}, []string{`NetworkPolicy "kubeopera-control-plane"`, errInjected.Error()}, true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().Obj()
			w.arrive(tn)
			before := w.egressOf(isolation.ControlPlanePolicy)
			tc.change(w)

			if _, err := w.pass(tn); (err != nil) != tc.errs {
				t.Errorf("%s: %v", tc.reason, err)
			}

			c := tn.GetCondition(v1alpha1.TypeBoundaryReady)
			if c.Reason != v1alpha1.ReasonPendingChange || tn.Status.Phase != v1alpha1.PhaseReady {
				t.Errorf("%s: BoundaryReady is %s, %q; %s: %s", tc.reason, c.Reason, c.Message, tn.Status.Phase, tn.Status.Message)
			}

			for _, want := range tc.says {
				if !strings.Contains(c.Message, want) || !strings.Contains(tn.Status.Message, want) {
					t.Errorf("%s: want %q in %q and in %q", tc.reason, want, c.Message, tn.Status.Message)
				}
			}

			if diff := cmp.Diff(tc.want, w.did()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			if !strings.HasPrefix(name, "NotYet") && name != "Forbidden" {
				if diff := cmp.Diff(before, w.egressOf(isolation.ControlPlanePolicy)); diff != "" {
					t.Errorf("%s: the way to the host's API changed: %s", tc.reason, diff)
				}
			}
		})
	}
}

// TestIsolationHoldsNoUpgradeBack holds that a change of the release goes on beside an
// isolation that stays as it is.
func TestIsolationHoldsNoUpgradeBack(t *testing.T) {
	t.Parallel()

	w, b := newWorld(t), alice()
	w.arrive(b.Obj())
	w.isolated(badRules())
	w.mustPass(b.Overrides(`{"controlPlane": {"coredns": {"priorityClassName": "x"}}}`).Obj())

	if diff := cmp.Diff([]string{upgrade}, w.did()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestIsolationWithoutUpdate holds that what runs is isolated, or otherwise, only where
// it may be changed, and that what is being made is isolated like all others.
func TestIsolationWithoutUpdate(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Policies(createOnly...).Obj()
	w.mustPass(tn)
	w.did()
	w.helm.release.Status = helm.StatusPendingInstall

	for _, name := range policyNames {
		w.remove(w.host, read[*networkingv1.NetworkPolicy](w, w.host, "vcluster-alice-default", name))
	}

	w.mustPass(tn)
	w.helm.release.Status = helm.StatusDeployed

	if diff := cmp.Diff([]string{makeAPI, makeAll}, w.did()); diff != "" {
		t.Errorf("while it is being made: -want, +got:\n%s", diff)
	}

	w.arrive(tn)

	for _, step := range []struct {
		when   string
		change func()
	}{
		{"other rules", func() { w.isolated(&v1alpha1.Isolation{Egress: []networkingv1.NetworkPolicyEgressRule{}}) }},
		{"a Tenant of an older provider", w.withoutPolicies},
		{"the same, with the rules as they were", func() { w.isolated(nil) }},
	} {
		step.change()

		if o := w.mustPass(tn); !o.ResourceExists || tn.Status.Phase != v1alpha1.PhaseReady || !strings.Contains(tn.Status.Message, withoutUpdate) {
			t.Errorf("%s: exists: %t, %s: %s", step.when, o.ResourceExists, tn.Status.Phase, tn.Status.Message)
		}
	}

	// Its node restarts.
	for _, replicas := range []int32{0, 1} {
		changeStatus(w, w.host, "vcluster-alice-default", "vc-alice-default", func(s *appsv1.StatefulSet) { s.Status.ReadyReplicas = replicas })
		w.mustPass(tn)
	}

	if got := w.did(); len(got) > 0 || tn.Status.Phase != v1alpha1.PhaseReady {
		t.Errorf("did %v, %s: %s", got, tn.Status.Phase, tn.Status.Message)
	}
}

// TestIsolationHoldsNoRepairBack holds that a Tenant of an older provider is repaired and
// upgraded while it cannot be isolated, for a mistake in the configuration, and that
// both are told.
func TestIsolationHoldsNoRepairBack(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		change func(*world, tenantBuilder)
		says   string
	}{
		"Upgrade": {func(_ *world, b tenantBuilder) {
			b.Overrides(`{"controlPlane": {"coredns": {"priorityClassName": "x"}}}`)
		}, ""},
		"Repair": {func(w *world, b tenantBuilder) { w.scale(namesOf(b.Obj()), "vc-alice-default", 0) }, ""},
		"RefusedChange": {func(w *world, b tenantBuilder) {
			b.Overrides(biggerVolume)
			w.scale(namesOf(b.Obj()), "vc-alice-default", 0)
		}, "size"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, b := wholeWorld(t, kindStatefulSet)
			w.withoutPolicies()
			w.isolated(badRules())
			tc.change(w, b)
			w.did()

			_, err := w.pass(b.Obj())
			checkErrors(t, name, err, []string{"cannot make the NetworkPolicy", "isolation.egress[0].to[0].ipBlock.cidr", tc.says})

			if c := b.GetCondition(v1alpha1.TypeBoundaryReady); c.Reason != v1alpha1.ReasonPendingChange && c.Reason != v1alpha1.ReasonFailed || !strings.Contains(c.Message, "isolation.egress") {
				t.Errorf("BoundaryReady is %s: %s", c.Reason, c.Message)
			}

			if diff := cmp.Diff([]string{upgrade}, w.did()); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

// TestAdoptionOfIsolation holds that nothing is adopted that cannot be isolated, and that
// what is, is isolated before Helm touches it.
func TestAdoptionOfIsolation(t *testing.T) {
	t.Parallel()

	w, tn := runsByHand(t), alice().Adopts("vcluster-alice-default").Obj()
	w.isolated(badRules())
	w.journal.clear()

	_, err := w.pass(tn)
	checkErrors(t, "bad rules", err, []string{"cannot make the NetworkPolicy", "isolation.egress[0].to[0].ipBlock.cidr"})

	if got := w.did(); len(got) > 0 {
		t.Errorf("did %v", got)
	}

	w.isolated(&v1alpha1.Isolation{PodSecurity: v1alpha1.PodSecurityPrivileged})
	w.mustPass(tn)

	if got := read[*corev1.Namespace](w, w.host, "", "vcluster-alice-default").Labels[enforce]; got != "privileged" {
		t.Errorf("the adopted namespace has the level %q", got)
	}
}

// TestNoHelmBeforeIsolation holds that a release is not touched as long as a
// NetworkPolicy of what does not run is missing.
func TestNoHelmBeforeIsolation(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.mustPass(tn)
	w.helm.release.Status = helm.StatusFailed
	w.remove(w.host, read[*networkingv1.NetworkPolicy](w, w.host, "vcluster-alice-default", isolation.ControlPlanePolicy))
	w.remove(w.host, hostAPI())

	if _, err := w.pass(tn); err == nil || tn.GetCondition(v1alpha1.TypeBoundaryReady).Reason != v1alpha1.ReasonFailed {
		t.Errorf("%v: %s: %s", err, tn.Status.Phase, tn.Status.Message)
	}

	if got := w.did(); len(got) > 0 {
		t.Errorf("did %v", got)
	}
}
