// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/host"
	"github.com/kubeopera/provider-kubeopera/internal/report"
)

// errNoHost is what a client errs with when nothing listens.
var errNoHost = &url.Error{Op: "Get", URL: "https://host.example.org", Err: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}}

// hostNamespace is the read that shows whether the host answers.
const hostNamespace = "get Namespace " + aliceNamespace

// abandonAs sets the annotation of the stored Tenant.
func (w *world) abandonAs(value string) {
	w.t.Helper()

	change(w, w.kube, aliceKey.Namespace, aliceKey.Name, func(tn *v1alpha1.Tenant) {
		meta.AddAnnotations(tn, map[string]string{v1alpha1.AnnotationAbandon: value})
	})
}

// reasonOf is why the Tenant's deletion waits.
func reasonOf(t *v1alpha1.Tenant) xpv2.ConditionReason {
	return t.GetCondition(v1alpha1.TypeBoundaryReady).Reason
}

// TestD4SecretOfTheHostIsGone holds that a Tenant stays as long as its host cannot be
// reached, says so, and is let go by the annotation that names its namespace and by
// nothing else. The provider has just been started and remembers no host.
func TestD4SecretOfTheHostIsGone(t *testing.T) {
	t.Parallel()

	w := newWorld(t, alice().Deleted(epoch).Obj(), clusterConfig(fromSecret))
	r := w.reconcilerBy(connectTo(w, "http://127.0.0.1:1"))

	for _, at := range []time.Duration{0, stalledAfter - time.Second, stalledAfter, 2 * stalledAfter, 3 * stalledAfter, time.Hour} {
		w.clock.SetTime(epoch.Add(at))

		tn, _ := w.reconcile(r)
		if tn == nil || !meta.FinalizerExists(tn, managed.FinalizerName) || tn.Status.Phase != v1alpha1.PhaseDeleting {
			t.Fatalf("at %s it pretends to be deleted: %+v", at, tn)
		}

		c := tn.GetCondition(v1alpha1.TypeBoundaryReady)
		for _, want := range []string{"the host cluster is unreachable", `Secret "host" in namespace "` + tenantNamespace + `"`, v1alpha1.AnnotationAbandon, `"vcluster-alice-default"`, "which counts from 2026-11-29T12:15:00Z on"} {
			if c.Status != corev1.ConditionFalse || c.Reason != v1alpha1.ReasonHostUnreachable || !strings.Contains(c.Message, want) || tn.Status.Message != c.Message {
				t.Errorf("at %s: %s, %s: the condition does not say %q: %s", at, c.Status, c.Reason, want, c.Message)
			}
		}

		if c := tn.GetCondition(xpv2.TypeSynced); c.Status != corev1.ConditionFalse {
			t.Errorf("at %s: Synced is %s", at, c.Status)
		}

		if c := tn.GetCondition(v1alpha1.TypeStalled); (c.Status == corev1.ConditionTrue) != (at >= stalledAfter) {
			t.Errorf("at %s: Stalled is %s", at, c.Status)
		}
	}

	for _, value := range []string{"", "true", "vcluster-bob", "alice-default"} {
		w.abandonAs(value)

		if tn, _ := w.reconcile(r); tn == nil {
			t.Fatalf("it is let go by %q", value)
		} else if want := fmt.Sprintf("to %q, not %q", aliceNamespace, value); !strings.Contains(tn.Status.Message, want) {
			t.Errorf("the message does not say %q: %s", want, tn.Status.Message)
		}
	}

	w.abandonAs("vcluster-alice-default")

	if tn, _ := w.reconcile(r); tn != nil {
		t.Errorf("it cannot be let go: %s", tn.Status.Message)
	}

	e := w.events.of(reasonAbandoned)
	for _, want := range []string{`namespace "vcluster-alice-default"`, `release "vc-alice-default"`, "unreachable"} {
		if w.events.count(reasonAbandoned) != 1 || e.Type != event.TypeWarning || !strings.Contains(e.Message, want) {
			t.Errorf("the event does not say %q: %+v", want, e)
		}
	}

	if got := w.doneOnHost(); len(got) > 0 {
		t.Errorf("did %v", got)
	}
}

// TestD4WaitsFromTheLastAnswer holds that the annotation counts only once the host was
// unseen for 15 minutes without a break, however long it stands there, and that the
// message says until when.
func TestD4WaitsFromTheLastAnswer(t *testing.T) {
	t.Parallel()

	type step struct {
		at time.Duration
		// up says that the host answers, refused that it forbids, restart that the provider
		// starts before.
		up, refused, restart bool
		until                string
		gone                 bool
	}

	cases := map[string]struct {
		reason string
		steps  []step
	}{
		"set long before": {"passes that fail seconds apart are no outage", []step{
			{at: 0, until: "12:15:00"}, {at: time.Second, until: "12:15:00"}, {at: 3 * time.Second, until: "12:15:00"},
			{at: stalledAfter - time.Second, until: "12:15:00"}, {at: stalledAfter, gone: true},
		}},
		"blips": {"each answer begins the wait anew", []step{
			{at: 0, up: true}, {at: 1 * time.Minute, until: "12:16:00"}, {at: 2 * time.Minute, until: "12:16:00"}, {at: 15 * time.Minute, up: true},
			{at: 16 * time.Minute, until: "12:31:00"}, {at: 30 * time.Minute, until: "12:31:00"}, {at: 31 * time.Minute, gone: true},
		}},
		"refusal": {"a refusal is an answer", []step{
			{at: 0, until: "12:15:00"}, {at: 14 * time.Minute, refused: true}, {at: 15 * time.Minute, until: "12:30:00"}, {at: 30 * time.Minute, gone: true},
		}},
		"restart": {"another process has seen nothing yet", []step{
			{at: 0, until: "12:15:00"}, {at: 14 * time.Minute, until: "12:15:00"}, {at: 20 * time.Minute, restart: true, until: "12:35:00"},
			{at: 20*time.Minute + 5*time.Second, until: "12:35:00"}, {at: 35 * time.Minute, gone: true},
		}},
		"paused": {"what was between two looks is not known", []step{
			{at: 0, until: "12:15:00"}, {at: time.Hour, until: "13:15:00"}, {at: time.Hour + time.Minute, until: "13:15:00"},
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().Deleted(epoch).Obj()
			meta.AddAnnotations(tn, map[string]string{v1alpha1.AnnotationAbandon: aliceNamespace})
			w.add(namespaceOf(tn).Obj())
			hold[*corev1.Namespace](w, aliceNamespace)

			for _, s := range tc.steps {
				w.clock.SetTime(epoch.Add(s.at))

				w.reads.with = errNoHost
				if s.refused {
					w.reads.with = kerrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, aliceNamespace, errInjected)
				}

				if s.restart {
					w.unseen = newUnseen()
				}

				w.reads.failOn, s.until = hostNamespace, "2026-11-29T"+s.until+"Z"
				if s.up {
					w.reads.failOn = ""
				}

				o, err := w.pass(tn)

				switch {
				case s.gone && (err != nil || o.ResourceExists || !w.events.has(reasonAbandoned) || reasonOf(tn) != v1alpha1.ReasonHostUnreachable):
					t.Errorf("%s: at %s it stays: %v, %s", tc.reason, s.at, err, tn.Status.Message)
				case s.up && (err != nil || !o.ResourceExists || reasonOf(tn) != v1alpha1.ReasonRemoving):
					t.Errorf("%s: at %s the host answers: %v, %s", tc.reason, s.at, err, tn.Status.Message)
				case s.refused && (err == nil || w.events.has(reasonAbandoned) || reasonOf(tn) != v1alpha1.ReasonRemoving):
					t.Errorf("%s: at %s the host refuses: %v, %s", tc.reason, s.at, err, tn.Status.Message)
				case !s.gone && !s.up && !s.refused && (!errors.Is(err, errUnseenHost) || w.events.has(reasonAbandoned) || !strings.Contains(tn.Status.Message, "waiting for it until "+s.until)):
					t.Errorf("%s: at %s, want a wait until %s: %v, %s", tc.reason, s.at, s.until, err, tn.Status.Message)
				}
			}
		})
	}
}

// TestD4WhatCountsAsUnseen holds which failures of a deletion say that the host is gone,
// and that all others never let go of the Tenant, whatever a person wrote on it.
func TestD4WhatCountsAsUnseen(t *testing.T) {
	t.Parallel()

	namespaces := schema.GroupResource{Resource: "namespaces"}

	cases := map[string]struct {
		reason string
		failOn string
		with   error
		counts bool
	}{
		"no connection":        {"nobody listens", hostNamespace, errNoHost, true},
		"no name":              {"its name is not known any more", hostNamespace, &url.Error{Err: &net.DNSError{IsNotFound: true}}, true},
		"no answer in time":    {"nobody answers", hostNamespace, &url.Error{Err: context.DeadlineExceeded}, true},
		"401":                  {"the credentials are not known any more", hostNamespace, kerrors.NewUnauthorized("who"), true},
		"403":                  {"who forbids is there", hostNamespace, kerrors.NewForbidden(namespaces, aliceNamespace, errInjected), false},
		"500":                  {"who fails is there", hostNamespace, kerrors.NewInternalError(errInjected), false},
		"503":                  {"and who is busy", hostNamespace, kerrors.NewServiceUnavailable("busy"), false},
		"429":                  {"and who asks to wait", hostNamespace, kerrors.NewTooManyRequests("slow down", 1), false},
		"the provider stops":   {"who was not let finish knows nothing", hostNamespace, &url.Error{Err: context.Canceled}, false},
		"something else":       {"what is no answer is not known to be none", hostNamespace, errInjected, false},
		"a corrupt release":    {"its namespace was read", "helm get vc-alice-default", errInjected, false},
		"cut off later":        {"its namespace was read", "helm get vc-alice-default", errNoHost, false},
		"no volumes for us":    {"one kind is forbidden", "list *v1.PersistentVolumeList", kerrors.NewForbidden(namespaces, "", errInjected), false},
		"one kind fails":       {"the others do not", "list *v1.StorageClassList", kerrors.NewInternalError(errInjected), false},
		"the provider's own":   {"the cluster of the Tenant is not its host", "get Secret " + publishedName, errNoHost, false},
		"the provider's, 401s": {"nor does its refusal say anything of the host", "get Secret " + publishedName, kerrors.NewUnauthorized("who"), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().Deleted(epoch).Obj()
			meta.AddAnnotations(tn, map[string]string{v1alpha1.AnnotationAbandon: aliceNamespace})
			w.add(namespaceOf(tn).Obj())
			hold[*corev1.Namespace](w, aliceNamespace)

			w.reads.failOn, w.reads.with = tc.failOn, tc.with

			gone, want := false, map[bool]xpv2.ConditionReason{true: v1alpha1.ReasonHostUnreachable, false: v1alpha1.ReasonRemoving}[tc.counts]

			for at := time.Duration(0); at <= time.Hour && !gone; at += 5 * time.Minute {
				w.clock.SetTime(epoch.Add(at))

				o, err := w.pass(tn)
				gone = err == nil && !o.ResourceExists

				if reasonOf(tn) != want || !strings.Contains(tn.Status.Message, tc.with.Error()) || strings.Contains(tn.Status.Message, v1alpha1.AnnotationAbandon) != tc.counts {
					t.Fatalf("%s: at %s, want %s: %s: %s", tc.reason, at, want, reasonOf(tn), tn.Status.Message)
				}
			}

			if gone != tc.counts || w.events.has(reasonAbandoned) != tc.counts {
				t.Errorf("%s: gone %t, events %v", tc.reason, gone, w.events.reasons())
			}
		})
	}
}

// TestD4WayToTheHost holds the same of what is in the way to the host: the provider
// configuration, its Secret, and who answers there.
func TestD4WayToTheHost(t *testing.T) {
	t.Parallel()

	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_, _ = fmt.Fprintf(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": %q, "code": %d}`,
				map[int]string{401: "Unauthorized", 403: "Forbidden", 500: "InternalError", 503: "ServiceUnavailable"}[code], code)
		}
	}
	page := func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<h1>no backend</h1>", http.StatusServiceUnavailable)
	}
	refuse := kerrors.NewInternalError(errInjected)

	cases := map[string]struct {
		reason string
		answer http.HandlerFunc // nil: nobody listens
		kube   func(server string) []client.Object
		failOn string
		with   error
		counts bool
	}{
		"no configuration":   {reason: "nobody says where it is", kube: func(string) []client.Object { return nil }, counts: true},
		"no Secret":          {reason: "nobody has the way in", kube: func(string) []client.Object { return []client.Object{clusterConfig(fromSecret)} }, counts: true},
		"no key":             {reason: "a Secret that is wrong is there", kube: secretWith("other", "x")},
		"no kubeconfig":      {reason: "and so is what cannot be read", kube: secretWith("kubeconfig", "{")},
		"no connection":      {reason: "nobody listens", counts: true},
		"401":                {reason: "the credentials are not known any more", answer: status(http.StatusUnauthorized), counts: true},
		"a page":             {reason: "who answers is no API server", answer: page, counts: true},
		"403":                {reason: "who forbids is there", answer: status(http.StatusForbidden)},
		"500":                {reason: "who fails is there", answer: status(http.StatusInternalServerError)},
		"503":                {reason: "and who is busy", answer: status(http.StatusServiceUnavailable)},
		"own cluster":        {reason: "the configuration is there, and cannot be read", failOn: "get ClusterProviderConfig default", with: refuse},
		"own cluster is cut": {reason: "nor does that say anything of the host", failOn: "get Secret host", with: errNoHost},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			server := "http://127.0.0.1:1"

			if tc.answer != nil {
				s := httptest.NewServer(tc.answer)
				t.Cleanup(s.Close)
				server = s.URL
			}

			kube := tc.kube
			if kube == nil {
				kube = func(server string) []client.Object { return secretWith("kubeconfig", kubeconfigOf(t, server))(server) }
			}

			w, tn := newWorld(t, kube(server)...), alice().Deleted(epoch).Obj()
			meta.AddAnnotations(tn, map[string]string{v1alpha1.AnnotationAbandon: aliceNamespace})

			w.reads.failOn, w.reads.with = tc.failOn, tc.with
			c := connectTo(w, "http://127.0.0.1:1")

			for _, at := range []time.Duration{0, 5 * time.Second, stalledAfter, 2 * stalledAfter} {
				w.clock.SetTime(epoch.Add(at))

				_, err := c.Connect(t.Context(), tn)
				if gone := err == nil; gone != (tc.counts && at >= stalledAfter) || gone != wasLetGo(tn) && at >= stalledAfter {
					t.Errorf("%s: at %s: %s: %v", tc.reason, at, tn.Status.Message, err)
				}

				if (reasonOf(tn) == v1alpha1.ReasonHostUnreachable) != tc.counts || (err != nil && errors.Is(err, errUnseenHost) != tc.counts) {
					t.Errorf("%s: at %s: %s, %v", tc.reason, at, reasonOf(tn), err)
				}
			}
		})
	}
}

// secretWith is a configuration with a Secret that has only that.
func secretWith(key, value string) func(string) []client.Object {
	return func(string) []client.Object {
		return []client.Object{clusterConfig(fromSecret), secretIn(tenantNamespace, "host", key, value)}
	}
}

// TestD4HostLacksAVerb holds that a host which answers, and where an upgraded provider
// may not watch what it did not watch before, is no host that is gone: the Tenants that
// live there stay as they are, and one that is being deleted is taken down, although a
// person wrote on it what lets go of others.
func TestD4HostLacksAVerb(t *testing.T) {
	t.Parallel()

	own, _ := fakeHost(t)
	lacking := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/networkpolicies") {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprint(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "cannot watch networkpolicies"}`)

			return
		}

		own.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(lacking.Close)

	w, _ := deleting(t)
	w.add(clusterConfig(fromSecret))
	w.add(secretIn(tenantNamespace, "host", "kubeconfig", kubeconfigOf(t, lacking.URL)))
	w.abandonAs(aliceNamespace)

	c := connectTo(w, "http://127.0.0.1:1")

	if _, err := c.Connect(t.Context(), alice().Named("lives").Ready().Obj()); !errors.Is(err, host.ErrUnreachable) || !kerrors.IsForbidden(err) || errors.Is(err, errUnseenHost) {
		t.Errorf("one that lives there: %v", err)
	}

	r := w.reconcilerBy(&onWorld{w, c})
	hold[*corev1.Namespace](w, aliceNamespace)

	began := w.clock.Now()

	for at := time.Duration(0); at <= time.Hour; at += 5 * time.Minute {
		w.clock.SetTime(began.Add(at))

		tn, _ := w.reconcile(r)
		if tn == nil || reasonOf(tn) != v1alpha1.ReasonRemoving || !meta.FinalizerExists(tn, managed.FinalizerName) {
			t.Fatalf("at %s: %+v", at, tn)
		}
	}

	letGo[*corev1.Namespace](w, aliceNamespace)
	w.reconcileUntilGone(r)

	if w.helm.release != nil || has[*corev1.Namespace](w, w.host, "", aliceNamespace) || w.events.has(reasonAbandoned) {
		t.Errorf("something is left on the host: release %v, events %v", w.helm.release, w.events.reasons())
	}
}

// TestAbandonedIsReported holds that a Tenant is not let go by its annotation while the
// host answers, nor at its first failure, and that kubeopera-api is told what became of
// the CloudSpace.
func TestAbandonedIsReported(t *testing.T) {
	t.Parallel()

	var kept []report.Report

	tn := alice().Obj()
	w := newWorld(t, tn.DeepCopy())
	w.reports = true
	w.keep = func(_ context.Context, r report.Report) error {
		kept = append(kept, r)
		return nil
	}

	r := w.reconciler()
	w.reconcile(r)
	w.bringUp(tn)
	w.reconcile(r)
	w.remove(w.kube, read[*v1alpha1.Tenant](w, w.kube, aliceKey.Namespace, aliceKey.Name))
	hold[*corev1.Namespace](w, aliceNamespace)
	w.abandonAs(aliceNamespace)

	w.reads.with = errNoHost

	for _, s := range []struct {
		reason string
		at     time.Duration
		failOn string
		gone   bool
	}{
		{"the host answers", 0, "", false},
		{"it does not", time.Minute, hostNamespace, false},
		{"nor 15 minutes later", 16 * time.Minute, hostNamespace, true},
	} {
		w.clock.SetTime(epoch.Add(s.at))
		w.reads.failOn = s.failOn

		stored, _ := w.reconcile(r)
		if (stored == nil) != s.gone || w.events.has(reasonAbandoned) != s.gone {
			t.Fatalf("%s: gone %t, events %v", s.reason, stored == nil, w.events.reasons())
		}
	}

	const want = "the CloudSpace was given up with its host cluster, which is unreachable"
	if len(kept) != 1 || kept[0].Message != want || kept[0].Status != v1alpha1.ReportDeleted {
		t.Errorf("told %+v", kept)
	}

	if _, ok := w.unseen.by[tn.GetUID()]; ok {
		t.Error("who is gone is remembered")
	}
}

// TestAbandonedIsToldOnce holds that one which is let go, and which something else
// holds, is not told of in each pass.
func TestAbandonedIsToldOnce(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Deleted(epoch).Obj()
	meta.AddAnnotations(tn, map[string]string{v1alpha1.AnnotationAbandon: "vcluster-alice-default"})

	w.reads.failOn, w.reads.with = hostNamespace, errNoHost
	if _, err := w.pass(tn); err == nil {
		t.Fatal("the first failure lets go")
	}

	w.clock.SetTime(epoch.Add(abandonAfter))

	for range 3 {
		if o := w.mustPass(tn); o.ResourceExists {
			t.Errorf("it stays: %s", tn.Status.Message)
		}
	}

	if got := w.events.count(reasonAbandoned); got != 1 {
		t.Errorf("%d events, want one: %v", got, w.events.reasons())
	}
}
