// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

func TestKey(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(*Report)
		same   bool
	}{
		"Same":         {reason: "the same report", change: func(*Report) {}, same: true},
		"Zone":         {reason: "the same time in another zone", change: func(r *Report) { r.ObservedAt = r.ObservedAt.In(time.FixedZone("", 3600)) }, same: true},
		"Nanoseconds":  {reason: "what the API server does not store", change: func(r *Report) { r.ObservedAt = r.ObservedAt.Add(999) }, same: true},
		"Tenant":       {reason: "another Tenant of the same id", change: func(r *Report) { r.TenantUID = "uid-bob" }},
		"Status":       {reason: "another status", change: func(r *Report) { r.Status = v1alpha1.ReportFailed }},
		"Message":      {reason: "another message", change: func(r *Report) { r.Message = "" }},
		"Generation":   {reason: "another generation", change: func(r *Report) { r.Generation++ }},
		"Again":        {reason: "another time in the same state", change: func(r *Report) { r.ObservedAt = r.ObservedAt.Add(time.Microsecond) }},
		"MovedBetween": {reason: "parts that would run together", change: func(r *Report) { r.TenantUID, r.Status = "uid-aliceactiv", "e" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := active()
			tc.change(&r)

			if same := r.Key() == active().Key(); same != tc.same {
				t.Errorf("%s: same key %t, want %t", tc.reason, same, tc.same)
			}
		})
	}
}

// A restart reads the report from the API server or the outbox.
func TestKeySurvivesStorage(t *testing.T) {
	t.Parallel()

	tenant := &v1alpha1.Tenant{}
	tenant.SetUID("uid-alice")
	tenant.Status.Report = &v1alpha1.ReportStatus{Status: v1alpha1.ReportActive, ObservedAt: metav1.NewMicroTime(epoch.Add(789))}

	before, ok := Pending(tenant)
	if !ok {
		t.Fatal("there is no report")
	}

	stored := &v1alpha1.Tenant{}
	through(t, tenant, stored)

	if after, _ := Pending(stored); after.Key() != before.Key() {
		t.Errorf("the key changed in the status: %+v, then %+v", before, after)
	}

	var boxed Report
	through(t, before, &boxed)

	if boxed.Key() != before.Key() {
		t.Errorf("the key changed in the outbox: %+v, then %+v", before, boxed)
	}
}

func through(t *testing.T, from, to any) {
	t.Helper()

	raw, err := json.Marshal(from)
	if err != nil {
		t.Fatal(err)
	}

	if err := json.Unmarshal(raw, to); err != nil {
		t.Fatal(err)
	}
}

func TestPending(t *testing.T) {
	t.Parallel()

	status := v1alpha1.ReportStatus{Status: v1alpha1.ReportActive, Message: "all is well", Generation: 3, ObservedAt: metav1.NewMicroTime(epoch)}
	accepted := status
	accepted.AcceptedAt = &metav1.Time{Time: epoch}

	cases := map[string]struct {
		reason string
		status *v1alpha1.ReportStatus
		want   Report
		ok     bool
	}{
		"None":     {reason: "nothing is to be reported"},
		"Accepted": {reason: "what was accepted is done", status: &accepted},
		"Pending":  {reason: "what was not accepted is to be", status: &status, want: active(), ok: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tenant := &v1alpha1.Tenant{}
			tenant.SetUID("uid-alice")
			tenant.Spec.TenantName, tenant.Spec.CloudSpaceID = "alice", "alice-id"
			tenant.Status.Report = tc.status

			got, ok := Pending(tenant)
			if diff := cmp.Diff(tc.want, got); diff != "" || ok != tc.ok {
				t.Errorf("%s: ok %t, want %t; -want, +got:\n%s", tc.reason, ok, tc.ok, diff)
			}
		})
	}
}
