// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

const restart = "host patch StatefulSet vc-alice-default"

// exportUntil has vCluster export a client certificate that is valid in that time.
func (w *world) exportUntil(from, to time.Time) {
	w.t.Helper()

	n := namesOf(alice().Obj())
	change(w, w.host, n.namespace, n.exported, func(s *corev1.Secret) {
		s.Data["config"] = kubeconfigFor("https://localhost:8443", pairOf("ca").cert, newAuthority(w.t).admin(from, to))
	})
}

// TestK5CertificateEndsIn80Days follows a client certificate of a year, which ends in 80
// days: its end is in the status, the control plane is restarted for it once, a person
// is told once 30 days before, and what vCluster exports then is published.
func TestK5CertificateEndsIn80Days(t *testing.T) {
	t.Parallel()

	const days = 24 * time.Hour

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)

	ends := epoch.Add(80 * days)
	w.exportUntil(ends.Add(-365*days), ends)
	w.mustPass(tn)

	if diff := cmp.Diff([]string{"kube update Secret " + publishedName}, w.journal.take()); diff != "" {
		t.Errorf("80 days before: -want, +got:\n%s", diff)
	}

	w.clock.SetTime(ends.Add(-renewalTime(tn.GetUID())))
	w.mustPass(tn)

	if diff := cmp.Diff([]string{restart}, w.journal.take()); diff != "" {
		t.Errorf("%s before: -want, +got:\n%s", renewalTime(tn.GetUID()), diff)
	}

	if at := tn.Status.KubeconfigExpiresAt; at == nil || !at.Time.Equal(ends) {
		t.Errorf("the status says that it ends at %v, want %s", at, ends)
	}

	s := read[*appsv1.StatefulSet](w, w.host, aliceNamespace, "vc-alice-default")
	if got := s.Spec.Template.Annotations[v1alpha1.AnnotationRenewed]; got != ends.Format(time.RFC3339) || !strings.Contains(w.events.of(reasonRenewing).Message, got) {
		t.Errorf("restarted for %q, events %v", got, w.events.events)
	}

	// It is not renewed: somebody has to look, and restarting it each minute is no help.
	for left := 64; left >= -1; left-- {
		w.clock.SetTime(ends.Add(-time.Duration(left) * days))

		for range 2 {
			w.mustPass(tn)
		}

		c := tn.GetCondition(v1alpha1.TypeKubeconfigPublished)
		if late := left <= 30; late != (c.Reason == v1alpha1.ReasonExpiring) || late != strings.Contains(c.Message, ends.Format(time.RFC3339)) || c.Status != corev1.ConditionTrue ||
			w.events.count(reasonExpiring) != map[bool]int{true: 1}[late] {
			t.Errorf("%d days before: %s, %s: %s, events %v", left, c.Status, c.Reason, c.Message, w.events.reasons())
		}
	}

	if got := w.journal.take(); len(got) > 0 || w.events.count(reasonRenewing) != 1 || w.events.of(reasonExpiring).Type != event.TypeWarning || tn.Status.Phase != v1alpha1.PhaseReady {
		t.Errorf("meanwhile it did %v, events %v, %s", got, w.events.reasons(), tn.Status.Phase)
	}

	next := w.clock.Now().Add(365 * days)
	w.exportUntil(w.clock.Now(), next)
	w.mustPass(tn)

	if diff := cmp.Diff([]string{"kube update Secret " + publishedName}, w.journal.take()); diff != "" || !tn.Status.KubeconfigExpiresAt.Time.Equal(next) ||
		tn.GetCondition(v1alpha1.TypeKubeconfigPublished).Reason != v1alpha1.ReasonDone {
		t.Errorf("renewed: ends at %s: -want, +got:\n%s", tn.Status.KubeconfigExpiresAt, diff)
	}
}

// TestExpiryOfAToken holds that the end of a certificate is not told any more once the
// kubeconfig holds a token, and is told on while there is no way in.
func TestExpiryOfAToken(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)

	n := namesOf(tn)
	ends := epoch.Add(365 * day)
	w.exportUntil(epoch, ends)
	w.mustPass(tn)

	w.remove(w.host, controlPlane(n).Obj())

	if _, err := w.external(tn).Observe(t.Context(), tn); err != nil {
		t.Fatal(err)
	}

	if at := tn.Status.KubeconfigExpiresAt; at == nil || !at.Time.Equal(ends) {
		t.Errorf("without a control plane it ends at %v, want %s", at, ends)
	}

	w.add(controlPlane(n).Ready().Obj())
	change(w, w.host, n.namespace, n.exported, func(s *corev1.Secret) {
		c, err := clientcmd.Load(kubeconfigFor("https://localhost:8443", pairOf("ca").cert, pair{}))
		if err != nil {
			t.Fatal(err)
		}

		c.AuthInfos[c.Contexts[c.CurrentContext].AuthInfo].Token = "token"

		if s.Data["config"], err = clientcmd.Write(*c); err != nil {
			t.Fatal(err)
		}
	})
	w.mustPass(tn)

	if at := tn.Status.KubeconfigExpiresAt; at != nil {
		t.Errorf("a token: it ends at %s", at)
	}
}

// TestRenewal holds when a control plane is restarted for its certificates.
func TestRenewal(t *testing.T) {
	t.Parallel()

	const days = 24 * time.Hour

	within := renewalTime(alice().Obj().GetUID())

	cases := map[string]struct {
		reason     string
		overrides  string
		begins     time.Duration
		ends       time.Duration
		policies   xpv2.ManagementPolicies
		dead       bool
		want       []string
		deployment bool
	}{
		"Early": {reason: "vCluster may do it by itself yet", begins: -279 * days, ends: within + time.Second},
		"Due":   {reason: "it did not", begins: -280 * days, ends: within, want: []string{restart}},
		"Ended": {reason: "one that has ended opens nothing, and is renewed by a restart all the same", begins: -366 * days, ends: -days, dead: true, want: []string{restart}},
		"Short": {reason: "one of 30 days is not restarted over and over", begins: 0, ends: 30 * days},
		"Half":  {reason: "but in its second half", begins: -15 * days, ends: 15 * days, want: []string{restart}},
		"NoUpdate": {
			reason: "a restart is an update", begins: -280 * days, ends: within,
			policies: xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionDelete},
		},
		"Deployment": {
			reason: "with its objects elsewhere it is a Deployment", begins: -280 * days, ends: within, deployment: true,
			overrides: `{"controlPlane": {"backingStore": {"database": {"external": {"enabled": true}}}}}`,
			want:      []string{"host patch Deployment vc-alice-default"},
		},
		"NoClaim": {
			reason: "its objects are in its pod, and would be lost", begins: -340 * days, ends: 25 * days, deployment: true,
			overrides: `{"controlPlane": {"statefulSet": {"persistence": {"volumeClaim": {"enabled": false}}}}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, b := newWorld(t), alice()
			if tc.overrides != "" {
				b = b.Overrides(tc.overrides)
			}

			tn := b.Obj()
			w.arrive(tn)

			if tc.policies != nil {
				tn.SetManagementPolicies(tc.policies)
			}

			if tc.deployment {
				w.remove(w.host, controlPlane(namesOf(tn)).Obj())
				w.add(deploymentOf(namesOf(tn)))
			}

			if tc.dead {
				w.probe = func(context.Context, *rest.Config) error { return errInjected }
			}

			w.exportUntil(epoch.Add(tc.begins), epoch.Add(tc.ends))

			for range 3 {
				w.mustPass(tn)
			}

			got := without(w.journal.take(), "kube update Secret "+publishedName)
			if diff := cmp.Diff(tc.want, got); diff != "" && len(tc.want)+len(got) > 0 {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			if name == "NoClaim" && !w.events.has(reasonExpiring) {
				t.Errorf("%s: nobody is told", tc.reason)
			}
		})
	}
}

// TestRenewalsAreSpread holds that Tenants of one age are restarted one after the other,
// each at a time of its own that stays, within 65 to 85 days before the end.
func TestRenewalsAreSpread(t *testing.T) {
	t.Parallel()

	of := map[int]int{}

	for i := range 1000 {
		uid := types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i))

		within := renewalTime(uid)
		if within != renewalTime(uid) || within <= 65*day || within > 85*day {
			t.Errorf("%s: %s before the end", uid, within)
		}

		of[int(within/day)]++
	}

	for d, n := range of {
		if n > 150 {
			t.Errorf("%d of 1000 are restarted with %d days left", n, d)
		}
	}

	if len(of) < 20 {
		t.Errorf("they are restarted on %d days", len(of))
	}
}

// deploymentOf is a control plane that is ready, as the chart makes it without persistence.
func deploymentOf(n names) *appsv1.Deployment {
	d := &appsv1.Deployment{}
	d.SetNamespace(n.namespace)
	d.SetName(n.release)
	d.SetLabels(vcluster.ControlPlaneLabels(n.release))
	d.Status.ReadyReplicas = 1

	return d
}

// TestRenewalFails holds that a Tenant which cannot be restarted works as before, says
// why, and is tried again after a pause.
func TestRenewalFails(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)
	w.exportUntil(epoch.AddDate(-1, 0, 0), epoch.Add(20*24*time.Hour))

	w.refuseWrites = func(a string) error {
		if a == restart {
			return errInjected
		}

		return nil
	}

	if _, err := w.pass(tn); !errors.Is(err, errInjected) || tn.Status.Phase != v1alpha1.PhaseReady || !strings.Contains(tn.Status.Message, `cannot restart StatefulSet "vc-alice-default"`) {
		t.Errorf("%v, %s: %s", err, tn.Status.Phase, tn.Status.Message)
	}

	w.refuseWrites = func(string) error { return nil }
	w.journal.clear()

	if _, err := w.pass(tn); !errors.Is(err, errInjected) || len(w.journal.take()) > 0 {
		t.Errorf("without a pause: %v", err)
	}

	w.clock.SetTime(epoch.Add(time.Minute))
	w.mustPass(tn)

	if diff := cmp.Diff([]string{restart}, w.journal.take()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestRenewalByALaggingCache holds that a restart which the cache does not show yet is
// not repeated.
func TestRenewalByALaggingCache(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)

	ends := epoch.Add(60 * 24 * time.Hour)
	w.exportUntil(epoch.AddDate(-1, 0, 0), ends)
	w.mustPass(tn)
	w.journal.clear()

	e := w.external(tn)
	f := &facts{certificate: certificate{ends: ends, due: true}, workload: controlPlaneFacts{found: true, kind: kindStatefulSet, name: "vc-alice-default"}}

	if _, err := e.renew(t.Context(), tn, f); err != nil || len(w.journal.take()) > 0 || w.events.count(reasonRenewing) != 1 {
		t.Errorf("%v, events %v", err, w.events.reasons())
	}

	w.remove(w.host, client.Object(controlPlane(namesOf(tn)).Obj()))

	if _, err := e.renew(t.Context(), tn, f); err == nil || !strings.Contains(err.Error(), `cannot read StatefulSet "vc-alice-default"`) {
		t.Errorf("a control plane that is gone: %v", err)
	}
}
