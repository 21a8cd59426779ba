// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

var (
	createOnly = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate}
	updateOnly = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionUpdate}
)

// TestWithoutUpdate follows a Tenant that may be created and not updated: all of it is
// made, in as many passes as that takes, and then left as it is.
func TestWithoutUpdate(t *testing.T) {
	t.Parallel()

	b := alice().WithFlux("").Advisor("advisor:v1").Policies(createOnly...)
	w := newWorld(t, b.Obj())
	r := w.reconciler()

	tn, _ := w.reconcile(r)
	checkStored(t, "after Create", tn)
	w.bringUp(tn)

	for range 3 {
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
		tn, _ = w.reconcile(r)
	}

	if tn.Status.Phase != v1alpha1.PhaseReady || tn.Status.Message != "vCluster, Flux and App Advisor ready" || meta.ExternalCreateIncomplete(tn) {
		t.Fatalf("it does not become Ready: %s: %s", tn.Status.Phase, tn.Status.Message)
	}

	if got := w.myAgent().GetManagementPolicies(); !cmp.Equal(got, createOnly) {
		t.Errorf("the AdvisorAgent has policies %v", got)
	}

	cases := map[string]struct {
		reason string
		change func(*v1alpha1.Tenant)
		happen func()
		says   []string
	}{
		"Values": {"a change of the values", func(tn *v1alpha1.Tenant) {
			tenantBuilder{tn}.Overrides(`{"logging": {"encoding": "json"}}`)
		}, func() {}, []string{"a change waits", "values", "without Update"}},
		"Quota": {"a change of the quota", func(tn *v1alpha1.Tenant) { tn.Spec.Quota.CPU = ptr.To(resource.MustParse("9")) }, func() {}, []string{"a change waits", "without Update"}},
		"Flux":  {"a change of Flux", func(tn *v1alpha1.Tenant) { tenantBuilder{tn}.WithFlux(`{"a": "b"}`) }, func() {}, []string{"a change waits", "Flux", "without Update"}},
		"Wall": {"an edit of the wall", func(*v1alpha1.Tenant) {}, func() {
			change(w, w.host, "vcluster-alice-default", wallName, func(q *corev1.ResourceQuota) { q.Spec.Hard = nil })
		}, []string{"a change waits", "without Update"}},
		"Upgrade": {"somebody's own upgrade that failed", func(*v1alpha1.Tenant) {}, func() {
			w.helm.release.Status, w.helm.release.Ours = helm.StatusFailed, false
		}, []string{"a change waits"}},
	}
	for name, tc := range cases {
		release, wall := *w.helm.release, read[*corev1.ResourceQuota](w, w.host, "vcluster-alice-default", wallName).Spec
		spec := read[*v1alpha1.Tenant](w, w.kube, aliceKey.Namespace, aliceKey.Name).Spec

		change(w, w.kube, aliceKey.Namespace, aliceKey.Name, tc.change)
		tc.happen()
		w.journal.clear()

		tn, _ = w.reconcile(r)
		if got := w.doneOnHost(); len(got) > 0 || tn.Status.Phase != v1alpha1.PhaseReady {
			t.Errorf("%s: %s: %s: %s, did %v", name, tc.reason, tn.Status.Phase, tn.Status.Message, got)
		}

		for _, s := range tc.says {
			if !strings.Contains(tn.Status.Message, s) {
				t.Errorf("%s: %s: %q does not say %q", name, tc.reason, tn.Status.Message, s)
			}
		}

		*w.helm.release = release
		change(w, w.host, "vcluster-alice-default", wallName, func(q *corev1.ResourceQuota) { q.Spec = wall })
		change(w, w.kube, aliceKey.Namespace, aliceKey.Name, func(tn *v1alpha1.Tenant) { tn.Spec = spec })
	}
}

// TestWithoutUpdateIsFinished holds that what was not made, or not to the end, is made
// also where nothing may be updated.
func TestWithoutUpdateIsFinished(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		happen func(*world)
		want   []string
	}{
		"Wall": {"a part of the wall", func(w *world) {
			w.remove(w.host, read[*corev1.LimitRange](w, w.host, "vcluster-alice-default", wallName))
		}, []string{"host create LimitRange kubeopera-tenant"}},
		"Release":  {"the release", func(w *world) { w.helm.release = nil }, []string{"helm install vc-alice-default"}},
		"Failed":   {"one that failed", func(w *world) { w.helm.release.Status = helm.StatusFailed }, []string{upgrade}},
		"Stale":    {"one whose writer died", func(w *world) { w.helm.release.Status = helm.StatusPendingInstall }, []string{"helm unlock vc-alice-default", upgrade}},
		"Children": {"what is beside it", func(w *world) { w.remove(w.kube, w.myQuota()) }, []string{createQuota}},
		"Flux":     {"what is inside", func(w *world) { w.flux.release = nil }, []string{"helm install flux"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().WithFlux("").Policies(createOnly...).Obj()
			w.mustPass(tn)
			w.bringUp(tn)
			w.mustPass(tn)
			w.mustPass(tn)
			w.clock.SetTime(epoch.Add(time.Hour))
			tc.happen(w)
			w.journal.clear()

			if o := w.mustPass(tn); o.ResourceExists {
				t.Errorf("%s: there is nothing to create", tc.reason)
			}

			got := w.journal.take()
			for _, noise := range []string{"host create Namespace vcluster-alice-default", "inner create Namespace flux-system"} {
				got = without(got, noise)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			if o := w.mustPass(tn); !o.ResourceExists {
				t.Errorf("%s: and once it is, there still is: %s", tc.reason, tn.Status.Message)
			}
		})
	}
}

// TestWithoutCreate holds that what is not there is not made, and is said to be missing.
func TestWithoutCreate(t *testing.T) {
	t.Parallel()

	w := newWorld(t, alice().Policies(updateOnly...).Obj())
	r := w.reconciler()

	for range 2 {
		tn, _ := w.reconcile(r)
		checkStored(t, "without leave to create", tn)

		if got := w.doneOnHost(); len(got) > 0 || tn.Status.Phase != v1alpha1.PhaseFailed || !strings.Contains(tn.Status.Message, "do not allow to create it") {
			t.Errorf("did %v, %s: %s", got, tn.Status.Phase, tn.Status.Message)
		}
	}

	w.mustPass(alice().Obj())
	w.bringUp(alice().Obj())

	tn, _ := w.reconcile(r)
	if tn.Status.Phase != v1alpha1.PhaseReady {
		t.Errorf("what is there is kept: %s: %s", tn.Status.Phase, tn.Status.Message)
	}
}

// TestObserveThroughRuntime follows a Tenant that only observes through the managed
// reconciler: what the runtime says of it, and that it leaves nothing changed.
func TestObserveThroughRuntime(t *testing.T) {
	t.Parallel()

	b := watcher()
	b.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "connection"}

	w := newWorld(t, b.Obj())
	r := w.reconciler()

	tn, res := w.reconcile(r)
	checkStored(t, "while it does not exist", tn)

	if c := tn.GetCondition(xpv2.TypeSynced); c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, "does not exist") || res.RequeueAfter == 0 ||
		!strings.Contains(tn.Status.Message, "there is no vCluster") {
		t.Errorf("while it does not exist: %s, %s, again after %s", c.Message, tn.Status.Message, res.RequeueAfter)
	}

	n := namesOf(alice().Obj())
	w.add(bareNamespace(n.namespace).Obj())
	w.bringUp(alice().Obj())
	w.helm.release = byHand(nil)

	tn, res = w.reconcile(r)
	checkStored(t, "when it is there", tn)

	if tn.Status.Phase != v1alpha1.PhaseReady || tn.GetCondition(xpv2.TypeSynced).Status != corev1.ConditionTrue || res.RequeueAfter < time.Minute {
		t.Errorf("%s: %s, again after %s", tn.Status.Phase, tn.Status.Message, res.RequeueAfter)
	}

	if s := read[*corev1.Secret](w, w.kube, tenantNamespace, "connection"); len(s.Data) != 5 {
		t.Errorf("the connection Secret has %d keys", len(s.Data))
	}

	if s := read[*corev1.Secret](w, w.kube, tenantNamespace, publishedName); !metav1.IsControlledBy(s, tn) {
		t.Errorf("the published Secret does not go with the Tenant: %v", s.OwnerReferences)
	}

	if got := w.doneOnHost(); len(without(got, "host create Namespace vcluster-alice-default")) > 0 {
		t.Errorf("wrote %v", got)
	}

	before := tn.Status.DeepCopy()

	for range 20 {
		w.clock.SetTime(w.clock.Now().Add(time.Minute))
		tn, _ = w.reconcile(r)
	}

	if diff := cmp.Diff(written(t, before), written(t, &tn.Status)); diff != "" || len(w.journal.take()) > 0 {
		t.Errorf("it is not left alone: %s", diff)
	}

	w.remove(w.kube, tn)

	if tn, _ = w.reconcile(r); tn != nil || !has[*corev1.Namespace](w, w.host, "", n.namespace) || w.helm.release == nil || len(w.doneOnHost()) > 0 {
		t.Errorf("its deletion changed something: left %v", tn)
	}
}

// TestPollAnnotation holds that a Tenant is looked at as often as it asks for itself,
// and not more often than every 5 s.
func TestPollAnnotation(t *testing.T) {
	t.Parallel()

	for poll, want := range map[string]time.Duration{"2h": 2 * time.Hour, "20s": 20 * time.Second, "1s": 5 * time.Second, "often": time.Minute, "": time.Minute} {
		b := watcher()
		if poll != "" {
			meta.AddAnnotations(b, map[string]string{meta.AnnotationKeyPollInterval: poll})
		}

		w := runsByHand(t, b.Obj())
		tn, res := w.reconcile(w.reconciler())

		if most := want + want/10; tn.Status.Phase != v1alpha1.PhaseReady || res.RequeueAfter < want || res.RequeueAfter > most {
			t.Errorf("%q: again after %s, want %s: %s", poll, res.RequeueAfter, want, tn.Status.Message)
		}
	}
}

// TestLetGo holds that without Delete all of it survives, and that the Tenant goes in
// one pass, without a look at a host that may be gone.
func TestLetGo(t *testing.T) {
	t.Parallel()

	for _, p := range []xpv2.ManagementPolicies{
		createOnly, updateOnly, {xpv2.ManagementActionObserve},
		{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate, xpv2.ManagementActionUpdate, xpv2.ManagementActionLateInitialize},
	} {
		w := newWorld(t, alice().WithFlux("").Obj())
		r := w.reconciler()
		tn, _ := w.reconcile(r)
		w.bringUp(tn)
		w.reconcile(r)
		w.reconcile(r)

		change(w, w.kube, aliceKey.Namespace, aliceKey.Name, func(tn *v1alpha1.Tenant) { tn.Spec.ManagementPolicies = p })
		w.remove(w.kube, read[*v1alpha1.Tenant](w, w.kube, aliceKey.Namespace, aliceKey.Name))
		w.reads.failOn = "get Namespace vcluster-alice-default"

		tn, _ = w.reconcile(r)
		w.reads.failOn = ""

		if got := w.doneOnHost(); tn != nil || len(got) > 0 || w.helm.release == nil || w.flux.release == nil || !has[*corev1.Namespace](w, w.host, "", "vcluster-alice-default") {
			t.Errorf("%v: left %v, did %v", p, tn, got)
		}
	}
}

// TestFinalizerOfObserved holds that a Tenant with nothing to look at needs none.
func TestFinalizerOfObserved(t *testing.T) {
	t.Parallel()

	w := newWorld(t, watcher().Obj())
	if tn, _ := w.reconcile(w.reconciler()); meta.FinalizerExists(tn, managed.FinalizerName) {
		t.Errorf("finalizers %v", tn.GetFinalizers())
	}
}
