// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

func TestTenantChanges(t *testing.T) {
	t.Parallel()

	version := func(t *v1alpha1.Tenant, v string) *v1alpha1.Tenant {
		t.SetResourceVersion(v)
		return t
	}
	pending := func() *v1alpha1.Tenant { return version(reporting(alice(), v1alpha1.ReportActive, 0), "1") }
	changed := func(fn func(*v1alpha1.Tenant)) *v1alpha1.Tenant {
		t := version(pending(), "2")
		fn(t)

		return t
	}
	accepted := func(t *v1alpha1.Tenant) { t.Status.Report.AcceptedAt = &metav1.Time{Time: epoch} }
	paused := func(t *v1alpha1.Tenant) {
		t.SetAnnotations(map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
	}

	cases := map[string]struct {
		reason   string
		old, new *v1alpha1.Tenant
		want     bool
	}{
		"First":     {reason: "a first report", old: version(alice(), "1"), new: changed(func(*v1alpha1.Tenant) {}), want: true},
		"Next":      {reason: "another report", old: pending(), new: changed(func(t *v1alpha1.Tenant) { reporting(t, v1alpha1.ReportFailed, time.Minute) }), want: true},
		"Condition": {reason: "a condition must not go past the backoff", old: pending(), new: changed(func(t *v1alpha1.Tenant) { t.SetConditions(xpv2.Available()) })},
		"Accepted":  {reason: "what was accepted is done", old: pending(), new: changed(accepted)},
		"Lost":      {reason: "an acceptance that was overwritten is written again", old: changed(accepted), new: pending(), want: true},
		"Resync":    {reason: "the cache shows all again from time to time", old: pending(), new: pending(), want: true},
		"Idle":      {reason: "and what is done is done", old: changed(accepted), new: changed(accepted)},
		"Paused":    {reason: "a paused Tenant is left alone", old: pending(), new: changed(paused)},
		"Resumed":   {reason: "and reports afterwards", old: changed(paused), new: pending(), want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := tenantChanges().Update(event.UpdateEvent{ObjectOld: tc.old, ObjectNew: tc.new}); got != tc.want {
				t.Errorf("%s: got %t, want %t", tc.reason, got, tc.want)
			}
		})
	}

	p := tenantChanges()
	for name, tc := range map[string]struct{ got, want bool }{
		"created":             {got: p.Create(event.CreateEvent{Object: alice()}), want: false},
		"created, pending":    {got: p.Create(event.CreateEvent{Object: pending()}), want: true},
		"deleted":             {got: p.Delete(event.DeleteEvent{Object: alice()}), want: true},
		"of another kind":     {got: p.Create(event.CreateEvent{Object: &corev1.ConfigMap{}}), want: false},
		"from somewhere else": {got: p.Generic(event.GenericEvent{Object: pending()}), want: false},
	} {
		if tc.got != tc.want {
			t.Errorf("a Tenant that is %s: got %t, want %t", name, tc.got, tc.want)
		}
	}
}

// All that is of one CloudSpace shares a request, so that it is delivered in order.
func TestRequests(t *testing.T) {
	t.Parallel()

	elsewhere := as(alice(), "bob", aliceID)
	elsewhere.SetNamespace("elsewhere")

	entry := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1alpha1.LabelTenantID: aliceID}}}
	want := requestFor(aliceID)

	if diff := cmp.Diff(want, ofTenant(t.Context(), alice())); diff != "" {
		t.Errorf("a Tenant: -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(want, ofTenant(t.Context(), elsewhere)); diff != "" {
		t.Errorf("a Tenant of the same id in another namespace: -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(want, ofEntry(t.Context(), entry)); diff != "" {
		t.Errorf("an entry of the outbox: -want, +got:\n%s", diff)
	}

	if got := ofTenant(t.Context(), entry); got != nil {
		t.Errorf("another kind: got %v", got)
	}
}
