// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const (
	createAgent = "kube create AdvisorAgent alice-default"
	createQuota = "kube create TenantQuota alice-default"
	updateAgent = "kube update AdvisorAgent alice-default"
	deleteAgent = "kube delete AdvisorAgent alice-default"
	deleteQuota = "kube delete TenantQuota alice-default"
)

// myAgent is the Tenant's own AdvisorAgent.
func (w *world) myAgent() *v1alpha1.AdvisorAgent {
	w.t.Helper()
	return read[*v1alpha1.AdvisorAgent](w, w.kube, tenantNamespace, "alice-default")
}

// myQuota is the Tenant's own TenantQuota.
func (w *world) myQuota() *v1alpha1.TenantQuota {
	w.t.Helper()
	return read[*v1alpha1.TenantQuota](w, w.kube, tenantNamespace, "alice-default")
}

// TestChildren holds what a Tenant makes beside it: what it is told, what goes
// with it, and that it says whose it is.
func TestChildren(t *testing.T) {
	t.Parallel()

	w, b := newWorld(t), alice().Advisor("advisor:v1").Config("ProviderConfig", "mine")
	b.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
	b.Spec.Advisor.Env = []corev1.EnvVar{{Name: "A", Value: "b"}}
	w.arrive(b.Obj())

	a, q := w.myAgent(), w.myQuota()

	wantAgent := v1alpha1.AdvisorAgentSpec{
		ManagedResourceSpec: xpv2.ManagedResourceSpec{
			ProviderConfigReference: &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "mine"},
			ManagementPolicies:      b.Spec.ManagementPolicies,
		},
		TenantRef:       v1alpha1.TenantReference{Name: "alice-default"},
		AdvisorSettings: v1alpha1.AdvisorSettings{Image: "advisor:v1", Replicas: ptr.To[int32](1), Env: b.Spec.Advisor.Env},
	}
	if diff := cmp.Diff(wantAgent, a.Spec); diff != "" {
		t.Errorf("AdvisorAgent: -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(wantAgent.ManagedResourceSpec, q.Spec.ManagedResourceSpec); diff != "" || q.Spec.TenantRef.Name != "alice-default" {
		t.Errorf("TenantQuota of %q: -want, +got:\n%s", q.Spec.TenantRef.Name, diff)
	}

	if diff := cmp.Diff(hard("4", "4", "8Gi", "8Gi"), inWords(q.Spec.Hard)); diff != "" || len(q.Spec.Namespaces) != 1 || q.Spec.Namespaces[0] != "default" {
		t.Errorf("TenantQuota in %v: -want, +got:\n%s", q.Spec.Namespaces, diff)
	}

	for _, o := range []client.Object{a, q} {
		if !metav1.IsControlledBy(o, b.Obj()) || o.GetLabels()[v1alpha1.LabelTenantID] != b.Spec.CloudSpaceID || o.GetLabels()[v1alpha1.LabelEnvironment] != "test" {
			t.Errorf("%T: owners %v, labels %v", o, o.GetOwnerReferences(), o.GetLabels())
		}

		if meta.GetExternalName(o) != o.GetName() || o.GetLabels()[v1alpha1.LabelTenantUID] != string(b.GetUID()) {
			t.Errorf("%T: its controller has to write its metadata first: %v, %v", o, o.GetAnnotations(), o.GetLabels())
		}
	}
}

// TestOwnChildren holds what is done to a Tenant's own AdvisorAgent and
// TenantQuota once it is Ready.
func TestOwnChildren(t *testing.T) {
	t.Parallel()

	drifted := func(fn func(*v1alpha1.AdvisorAgent)) func(*world, tenantBuilder) {
		return func(w *world, _ tenantBuilder) { change(w, w.kube, tenantNamespace, "alice-default", fn) }
	}

	cases := map[string]struct {
		reason  string
		change  func(*world, tenantBuilder)
		writes  []string
		advisor xpv2.ConditionReason
		says    string
	}{
		"Nothing": {"nothing changed", func(*world, tenantBuilder) {}, nil, v1alpha1.ReasonDone, "vCluster and App Advisor ready"},
		"Image":   {"the Tenant says another image", func(_ *world, b tenantBuilder) { b.Advisor("advisor:v2") }, []string{updateAgent}, v1alpha1.ReasonDone, ""},
		"Drift":   {"somebody edits it", drifted(func(a *v1alpha1.AdvisorAgent) { a.Spec.Image = "evil:v1" }), []string{updateAgent}, v1alpha1.ReasonDone, ""},
		"Labels":  {"somebody takes its labels", drifted(func(a *v1alpha1.AdvisorAgent) { a.Labels = nil }), []string{updateAgent}, v1alpha1.ReasonDone, ""},
		"Policies": {
			"what is not to be deleted changes", func(_ *world, b tenantBuilder) {
				b.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate}
			}, []string{requota, updateAgent}, v1alpha1.ReasonDone, "",
		},
		"QuotaDrift": {"somebody edits the quota", func(w *world, _ tenantBuilder) {
			change(w, w.kube, tenantNamespace, "alice-default", func(q *v1alpha1.TenantQuota) { q.Spec.Namespaces = nil })
		}, []string{requota}, v1alpha1.ReasonDone, ""},
		"QuotaLabels": {"somebody takes its labels", func(w *world, _ tenantBuilder) {
			change(w, w.kube, tenantNamespace, "alice-default", func(q *v1alpha1.TenantQuota) { q.Labels = nil })
		}, []string{requota}, v1alpha1.ReasonDone, ""},
		"Gone": {"somebody deletes both", func(w *world, _ tenantBuilder) {
			w.remove(w.kube, w.myAgent())
			w.remove(w.kube, w.myQuota())
		}, []string{createQuota, createAgent}, v1alpha1.ReasonDone, ""},
		"NoImage":  {"the image is removed", func(_ *world, b tenantBuilder) { b.Spec.Advisor = nil }, []string{deleteAgent}, v1alpha1.ReasonSkipped, "vCluster ready"},
		"Disabled": {"it is turned off", func(_ *world, b tenantBuilder) { b.Spec.Advisor.Enabled = ptr.To(false) }, []string{deleteAgent}, v1alpha1.ReasonSkipped, "vCluster ready"},
		"Default":  {"the provider's image takes its place", func(w *world, b tenantBuilder) { w.defaults.advisorImage, b.Spec.Advisor = "advisor:v0", nil }, []string{updateAgent}, v1alpha1.ReasonDone, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, b := newWorld(t), alice().Advisor("advisor:v1")
			w.arrive(b.Obj())
			tc.change(w, b)
			w.journal.clear()

			o := w.mustPass(b.Obj())
			// What the wall has for the App Advisor goes with it.
			got := without(without(w.journal.take(), resize), "host create Namespace vcluster-alice-default")

			if diff := cmp.Diff(tc.writes, got); diff != "" || o.ResourceUpToDate != (len(tc.writes) == 0) {
				t.Errorf("%s: up to date %t, -want, +got:\n%s", tc.reason, o.ResourceUpToDate, diff)
			}

			if c := b.GetCondition(v1alpha1.TypeAdvisorReady); c.Reason != tc.advisor || b.Status.Phase != v1alpha1.PhaseReady || !strings.Contains(b.Status.Message, tc.says) {
				t.Errorf("%s: %s: %s, App Advisor %s: %s", tc.reason, b.Status.Phase, b.Status.Message, c.Reason, c.Message)
			}

			w.mustPass(b.Obj())

			if got := w.journal.take(); len(got) > 0 {
				t.Errorf("%s: wrote again: %v", tc.reason, got)
			}
		})
	}
}

// TestNoAdvisor holds why there is none.
func TestNoAdvisor(t *testing.T) {
	t.Parallel()

	off := alice().Advisor("advisor:v1")
	off.Spec.Advisor.Enabled = ptr.To(false)

	cases := map[string]struct {
		reason   string
		tenant   tenantBuilder
		fallback string
		says     string
	}{
		"NoImage":    {"nobody set an image", alice(), "", "ADVISOR_IMAGE"},
		"EmptyImage": {"an empty image is none", alice().Advisor(""), "", "advisor.image"},
		"Off":        {"it is turned off, whatever the default", off, "advisor:v0", "advisor.enabled is false"},
		"Own":        {"it is on", alice().Advisor("advisor:v1"), "", ""},
		"Default":    {"it is on by default", alice(), "advisor:v0", ""},
		"DefaultFor": {"also where the Tenant says something else of it", alice().Advisor(""), "advisor:v0", ""},
	}
	for name, tc := range cases {
		w := newWorld(t)
		w.defaults.advisorImage = tc.fallback

		got := w.external(tc.tenant.Obj()).whyNoAgent(tc.tenant.Obj())
		if (got == "") != (tc.says == "") || !strings.Contains(got, tc.says) {
			t.Errorf("%s: %s: got %q", name, tc.reason, got)
		}
	}
}

// TestDefaultImageIsNotWritten holds that the provider's image is not put into the
// AdvisorAgent, which would not follow it then.
func TestDefaultImageIsNotWritten(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.defaults.advisorImage = "advisor:v0"
	w.arrive(tn)

	if a := w.myAgent(); a.Spec.Image != "" || *a.Spec.Replicas != 1 {
		t.Errorf("image %q, replicas %d", a.Spec.Image, *a.Spec.Replicas)
	}
}

// TestChildrenOfOthers holds that a Tenant makes none where there is one, says what
// that one says, and touches it neither when it changes nor when it goes.
func TestChildrenOfOthers(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t, agent("a", "alice-default"), agent("b", "alice-default"), tenantQuota("q", "alice-default")), alice().Advisor("advisor:v1").Obj()
	w.mustPass(tn)
	w.bringUp(tn)

	say := func(name string, c xpv2.Condition) func() {
		return func() {
			change(w, w.kube, tenantNamespace, name, func(a *v1alpha1.AdvisorAgent) { a.SetConditions(c.WithObservedGeneration(a.GetGeneration())) })
		}
	}
	quotaSays := func(c xpv2.Condition) func() {
		return func() {
			change(w, w.kube, tenantNamespace, "q", func(q *v1alpha1.TenantQuota) { q.SetConditions(c.WithObservedGeneration(q.GetGeneration())) })
		}
	}

	for _, s := range []struct {
		reason string
		happen func()
		phase  v1alpha1.TenantPhase
		says   string
	}{
		{"nobody has looked at them", func() {}, v1alpha1.PhaseInstallingFlux, "the quota inside the vCluster has been asked for"},
		{"the quota is refused", quotaSays(xpv2.Unavailable().WithMessage("no such namespace")), v1alpha1.PhaseInstallingFlux, "the quota inside the vCluster is not ready: no such namespace"},
		{"the quota is there", quotaSays(xpv2.Available()), v1alpha1.PhaseInstallingFlux, "the App Advisor has been asked for"},
		{"one of two works", say("a", xpv2.Available()), v1alpha1.PhaseInstallingFlux, "the App Advisor has been asked for"},
		{"the other says why it does not", say("b", xpv2.Creating().WithMessage("no image")), v1alpha1.PhaseInstallingFlux, "the App Advisor is not ready: no image"},
		{"both work", say("b", xpv2.Available()), v1alpha1.PhaseReady, "vCluster and App Advisor ready"},
		{"one was changed", func() {
			change(w, w.kube, tenantNamespace, "a", func(a *v1alpha1.AdvisorAgent) { a.SetGeneration(2) })
		}, v1alpha1.PhaseReady, "vCluster and App Advisor ready; a change waits: the App Advisor is to change"},
		{"and does not take it", say("a", xpv2.Unavailable().WithMessage("refused")), v1alpha1.PhaseInstallingFlux, "the App Advisor is not ready: refused"},
		{"one that does not work was changed", func() {
			change(w, w.kube, tenantNamespace, "a", func(a *v1alpha1.AdvisorAgent) { a.SetGeneration(3) })
		}, v1alpha1.PhaseInstallingFlux, "the App Advisor has been asked for"},
		{"and works again", say("a", xpv2.Available()), v1alpha1.PhaseReady, "vCluster and App Advisor ready"},
		{"its last change was refused", func() {
			say("a", xpv2.Available().WithMessage("App Advisor ready; a change failed: invalid"))()
			say("a", xpv2.ReconcileError(errInjected))()
		}, v1alpha1.PhaseReady, "a change waits: the App Advisor: App Advisor ready; a change failed: invalid"},
	} {
		s.happen()
		w.journal.clear()
		w.mustPass(tn)

		if tn.Status.Phase != s.phase || !strings.Contains(tn.Status.Message, s.says) {
			t.Errorf("%s: %s: %s", s.reason, tn.Status.Phase, tn.Status.Message)
		}

		for _, a := range w.journal.take() {
			if strings.Contains(a, "AdvisorAgent") || strings.Contains(a, "TenantQuota") {
				t.Errorf("%s: %s", s.reason, a)
			}
		}
	}

	tn.SetDeletionTimestamp(&metav1.Time{Time: epoch})

	for range 6 {
		w.mustPass(tn)
	}

	if got := w.mustPass(tn); got.ResourceExists || !has[*v1alpha1.AdvisorAgent](w, w.kube, tenantNamespace, "a") ||
		!has[*v1alpha1.AdvisorAgent](w, w.kube, tenantNamespace, "b") || !has[*v1alpha1.TenantQuota](w, w.kube, tenantNamespace, "q") {
		t.Errorf("the deletion took what is not the Tenant's, or waits for it: %s", tn.Status.Message)
	}
}

// TestHandOver holds that a Tenant's own go as soon as there are others, and come
// back when those go.
func TestHandOver(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Advisor("advisor:v1").Obj()
	w.arrive(tn)
	change(w, w.kube, tenantNamespace, "alice-default", func(a *v1alpha1.AdvisorAgent) { a.Finalizers = []string{"test/hold"} })

	theirs, ours := agent("theirs", "alice-default"), []string{deleteAgent, deleteQuota}
	w.add(theirs)
	change(w, w.kube, tenantNamespace, "theirs", func(a *v1alpha1.AdvisorAgent) {
		a.SetConditions(xpv2.Creating().WithMessage("no pods").WithObservedGeneration(1))
	})
	w.add(tenantQuota("theirs", "alice-default"))

	w.journal.clear()
	w.mustPass(tn)

	got := w.journal.take()
	for _, want := range ours {
		if len(without(got, want)) != len(got)-1 {
			t.Errorf("%s is not in %v", want, got)
		}
	}

	if c := tn.GetCondition(v1alpha1.TypeAdvisorReady); !strings.Contains(c.Message, "no pods") || !has[*v1alpha1.AdvisorAgent](w, w.kube, tenantNamespace, "alice-default") {
		t.Errorf("%s: %s", c.Reason, c.Message)
	}

	// What is asked to go is asked once, and waited for.
	for range 2 {
		if o := w.mustPass(tn); o.ResourceUpToDate || len(w.journal.take()) > 0 {
			t.Errorf("up to date %t, wrote something: %s", o.ResourceUpToDate, tn.Status.Message)
		}
	}

	change(w, w.kube, tenantNamespace, "alice-default", func(a *v1alpha1.AdvisorAgent) { a.Finalizers = nil })

	if o := w.mustPass(tn); !o.ResourceUpToDate {
		t.Errorf("not up to date: %s", tn.Status.Message)
	}

	w.remove(w.kube, read[*v1alpha1.AdvisorAgent](w, w.kube, tenantNamespace, "theirs"))
	w.remove(w.kube, read[*v1alpha1.TenantQuota](w, w.kube, tenantNamespace, "theirs"))
	w.mustPass(tn)

	if !metav1.IsControlledBy(w.myAgent(), tn) || !metav1.IsControlledBy(w.myQuota(), tn) || tn.Status.Phase != v1alpha1.PhaseReady {
		t.Errorf("%s: %s", tn.Status.Phase, tn.Status.Message)
	}
}

// TestChildNameTaken holds that what has the name and is of another Tenant, or of
// nobody, is a conflict that says so, and stays as it is.
func TestChildNameTaken(t *testing.T) {
	t.Parallel()

	w := newWorld(t, agent("alice-default", "bob"), tenantQuota("alice-default", "bob"))
	tn := alice().Advisor("advisor:v1").Obj()
	w.mustPass(tn)
	w.bringUp(tn)

	_, err := w.pass(tn)
	if !errors.Is(err, errConflict) || tn.Status.Phase != v1alpha1.PhaseFailed {
		t.Errorf("%v, %s: %s", err, tn.Status.Phase, tn.Status.Message)
	}

	for ct, kind := range map[xpv2.ConditionType]string{v1alpha1.TypeQuotaApplied: "TenantQuota", v1alpha1.TypeAdvisorReady: "AdvisorAgent"} {
		if c := tn.GetCondition(ct); c.Reason != v1alpha1.ReasonConflict || !strings.Contains(c.Message, kind+` "alice-default" exists`) {
			t.Errorf("%s is %s: %s", ct, c.Reason, c.Message)
		}
	}

	if w.myAgent().Spec.TenantRef.Name != "bob" || w.myQuota().Spec.TenantRef.Name != "bob" {
		t.Error("they were changed")
	}

	if !has[*corev1.Secret](w, w.kube, tenantNamespace, publishedName) {
		t.Error("the kubeconfig was held back")
	}
}

// forgetfulCache lists no AdvisorAgents and no TenantQuotas.
type forgetfulCache struct{ client.Client }

func (c forgetfulCache) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	switch l.(type) {
	case *v1alpha1.AdvisorAgentList, *v1alpha1.TenantQuotaList:
		return nil
	default:
		return c.Client.List(ctx, l, opts...)
	}
}

// TestChildWritesFail holds that each write that fails is told for its stage, and
// that the other is made all the same.
func TestChildWritesFail(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		refuse string
		change func(*world, tenantBuilder)
		stage  xpv2.ConditionType
		ready  bool
		says   string
	}{
		"CreateAgent": {"no AdvisorAgent may be made", createAgent, func(w *world, _ tenantBuilder) { w.remove(w.kube, w.myAgent()) }, v1alpha1.TypeAdvisorReady, false, `cannot create AdvisorAgent "alice-default"`},
		"CreateQuota": {"no TenantQuota may be made", createQuota, func(w *world, _ tenantBuilder) { w.remove(w.kube, w.myQuota()) }, v1alpha1.TypeQuotaApplied, false, `cannot create TenantQuota "alice-default"`},
		"UpdateAgent": {"a change is refused", updateAgent, func(_ *world, b tenantBuilder) { b.Advisor("advisor:v2") }, v1alpha1.TypeAdvisorReady, true, `cannot update AdvisorAgent "alice-default"`},
		"UpdateQuota": {"a change of the quota is refused", requota, func(_ *world, b tenantBuilder) { b.Spec.Quota.Pods = ptr.To[int32](3) }, v1alpha1.TypeQuotaApplied, true, `cannot update TenantQuota "alice-default"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, b := newWorld(t), alice().Advisor("advisor:v1")
			w.arrive(b.Obj())
			tc.change(w, b)
			w.refuseWrites = func(a string) error {
				if a == tc.refuse {
					return errInjected
				}

				return nil
			}

			_, err := w.pass(b.Obj())
			if c := b.GetCondition(tc.stage); !errors.Is(err, errInjected) || !strings.Contains(c.Message, tc.says) || (c.Status == corev1.ConditionTrue) != tc.ready {
				t.Errorf("%s: %v; %s is %s, %s: %s", tc.reason, err, tc.stage, c.Status, c.Reason, c.Message)
			}

			if (b.Status.Phase == v1alpha1.PhaseReady) != tc.ready || !strings.Contains(b.Status.Message, tc.says) {
				t.Errorf("%s: %s: %s", tc.reason, b.Status.Phase, b.Status.Message)
			}
		})
	}
}

// TestSplit holds that only what the Tenant controls is its own.
func TestSplit(t *testing.T) {
	t.Parallel()

	yes := true
	owned := func(name string, uid types.UID, controller *bool) v1alpha1.TenantQuota {
		q := tenantQuota(name, "alice-default")
		q.SetOwnerReferences([]metav1.OwnerReference{{Kind: "Tenant", Name: "alice-default", UID: uid, Controller: controller}})

		return *q
	}

	own, others := split(alice().Obj(), []v1alpha1.TenantQuota{
		owned("earlier", "uid-earlier", &yes), owned("own", "uid-alice", &yes), owned("kept", "uid-alice", nil), *tenantQuota("bare", "alice-default"),
	})

	var names []string
	for _, o := range others {
		names = append(names, o.GetName())
	}

	if diff := cmp.Diff([]string{"earlier", "kept", "bare"}, names); diff != "" || own == nil || own.GetName() != "own" {
		t.Errorf("own %v, others: -want, +got:\n%s", own, diff)
	}
}
