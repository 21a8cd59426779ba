// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const outboxNamespace = "kubeopera-system"

var errInjected = errors.New("injected failure")

// deleted is the last report of a Tenant.
func deleted(uid types.UID, at time.Duration) Report {
	r := active()
	r.TenantUID, r.Status, r.ObservedAt = uid, v1alpha1.ReportDeleted, epoch.Add(at)

	return r
}

func newOutbox(objs ...client.Object) (*Outbox, client.WithWatch) {
	c := fake.NewClientBuilder().WithObjects(objs...).Build()

	return NewOutbox(c, c, outboxNamespace), c
}

func mustAdd(t *testing.T, o *Outbox, rs ...Report) {
	t.Helper()

	for _, r := range rs {
		if err := o.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

// stored is the only ConfigMap of the outbox.
func stored(t *testing.T, c client.Client) *corev1.ConfigMap {
	t.Helper()

	l := &corev1.ConfigMapList{}
	if err := c.List(t.Context(), l); err != nil || len(l.Items) != 1 {
		t.Fatalf("there are %d ConfigMaps (%v), want 1", len(l.Items), err)
	}

	return &l.Items[0]
}

// reportsOf are those of the whole entries.
func reportsOf(t *testing.T, o *Outbox, id string) []Report {
	t.Helper()

	entries, damaged, err := o.Entries(t.Context(), id)
	if err != nil || len(damaged) > 0 {
		t.Fatalf("got %v, damaged %v", err, damaged)
	}

	var out []Report
	for _, e := range entries {
		out = append(out, e.Report)
	}

	return out
}

func TestOutbox(t *testing.T) {
	t.Parallel()

	o, c := newOutbox(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "somebody-elses", Namespace: outboxNamespace}})

	other := deleted("uid-carol", 0)
	other.CloudSpaceID = "carol-id"
	mustAdd(t, o, deleted("uid-b", time.Hour), deleted("uid-a", time.Hour), deleted("uid-c", time.Minute), other)

	want := []Report{deleted("uid-c", time.Minute), deleted("uid-a", time.Hour), deleted("uid-b", time.Hour)}
	if diff := cmp.Diff(want, reportsOf(t, o, "alice-id")); diff != "" {
		t.Errorf("the oldest comes first, and only those of the CloudSpace; -want, +got:\n%s", diff)
	}

	entries, _, err := o.Entries(t.Context(), "alice-id")
	if err != nil {
		t.Fatal(err)
	}

	for range 2 {
		if err := o.Remove(t.Context(), entries[0]); err != nil {
			t.Fatalf("removing what is gone is no error: %v", err)
		}
	}

	if diff := cmp.Diff(want[1:], reportsOf(t, o, "alice-id")); diff != "" {
		t.Errorf("only what was removed is gone; -want, +got:\n%s", diff)
	}

	if err := c.Get(t.Context(), client.ObjectKey{Namespace: outboxNamespace, Name: "somebody-elses"}, &corev1.ConfigMap{}); err != nil {
		t.Error(err)
	}
}

func TestAddTwice(t *testing.T) {
	t.Parallel()

	o, c := newOutbox()
	mustAdd(t, o, deleted("uid-alice", 0), deleted("uid-alice", time.Hour))

	if diff := cmp.Diff([]Report{deleted("uid-alice", 0)}, reportsOf(t, o, "alice-id")); diff != "" {
		t.Errorf("the first counts; -want, +got:\n%s", diff)
	}

	got := stored(t, c)
	want := map[string]string{
		"kubeopera.io/report": "deleted", "kubeopera.io/tenant-id": "alice-id", "kubeopera.io/managed-by": "tenant-controller",
	}

	if diff := cmp.Diff(want, got.GetLabels()); diff != "" || got.GetName() != "report-uid-alice" || got.Immutable == nil || !*got.Immutable {
		t.Errorf("got ConfigMap %q, immutable %v; labels -want, +got:\n%s", got.GetName(), got.Immutable, diff)
	}
}

func TestAddErrors(t *testing.T) {
	t.Parallel()

	maps := schema.GroupResource{Resource: "configmaps"}
	terminating := kerrors.NewForbidden(maps, "report-uid-alice", errors.New("it is being terminated"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}

	cases := map[string]struct {
		reason   string
		err      error
		report   Report
		noOutbox bool
	}{
		"NoNamespace": {reason: "nowhere to put it", err: kerrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, outboxNamespace), report: deleted("uid-alice", 0), noOutbox: true},
		"Terminating": {reason: "nowhere to put it", err: terminating, report: deleted("uid-alice", 0), noOutbox: true},
		"Forbidden":   {reason: "a right that is missing can be given", err: kerrors.NewForbidden(maps, "report-uid-alice", errInjected), report: deleted("uid-alice", 0)},
		"Other":       {reason: "what may pass is tried again", err: errInjected, report: deleted("uid-alice", 0)},
		"NotDeleted":  {reason: "only the last report of a Tenant outlives it", report: active()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, c := newOutbox()
			refusing := interceptor.NewClient(c, interceptor.Funcs{
				Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return tc.err },
			})

			err := NewOutbox(refusing, c, outboxNamespace).Add(t.Context(), tc.report)
			if err == nil || errors.Is(err, ErrNoOutbox) != tc.noOutbox || (tc.err != nil && !errors.Is(err, tc.err)) {
				t.Errorf("%s: got %v, want ErrNoOutbox %t", tc.reason, err, tc.noOutbox)
			}
		})
	}
}

func TestDamagedEntries(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(*corev1.ConfigMap)
		id     string
	}{
		"NoData":      {reason: "nothing in it", change: func(c *corev1.ConfigMap) { c.Data = nil }, id: "alice-id"},
		"NoJSON":      {reason: "something else in it", change: func(c *corev1.ConfigMap) { c.Data[keyReport] = "{" }, id: "alice-id"},
		"OtherStatus": {reason: "no report that a CloudSpace is deleted", change: replace("deleted", "active"), id: "alice-id"},
		"OtherTenant": {reason: "the report of another Tenant", change: replace("uid-alice", "uid-bob"), id: "alice-id"},
		"NoTenant":    {reason: "the report of no Tenant", change: replace("uid-alice", ""), id: "alice-id"},
		"OtherID":     {reason: "it would be sent in another's order", change: replace("alice-id", "bob-id"), id: "alice-id"},
		"NoTime":      {reason: "a report without a time", change: replace("observedAt", "at"), id: "alice-id"},
		"OtherLabel":  {reason: "a label that was changed", change: func(c *corev1.ConfigMap) { c.Labels[v1alpha1.LabelTenantID] = "bob-id" }, id: "bob-id"},
		"NoID": {reason: "neither says whose it is", change: func(c *corev1.ConfigMap) {
			replace("alice-id", "")(c)
			delete(c.Labels, v1alpha1.LabelTenantID)
		}},
		"NoLabel": {reason: "a label that was taken off", change: func(c *corev1.ConfigMap) { delete(c.Labels, v1alpha1.LabelTenantID) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			first, c := newOutbox()
			mustAdd(t, first, deleted("uid-alice", 0))

			broken := stored(t, c)
			broken.SetResourceVersion("")
			tc.change(broken)

			o, c := newOutbox(broken)

			if tc.id != "" {
				mustAdd(t, o, Report{TenantUID: "uid-whole", CloudSpaceID: tc.id, Status: v1alpha1.ReportDeleted, ObservedAt: epoch})
			}

			entries, damaged, err := o.Entries(t.Context(), tc.id)
			if err != nil {
				t.Fatal(err)
			}

			if tc.id != "" && len(entries) != 1 {
				t.Errorf("%s: the whole entry beside it is not found", tc.reason)
			}

			if len(damaged) != 1 || !strings.Contains(damaged[0].Err.Error(), `"kubeopera-system/report-uid-alice"`) {
				t.Fatalf("%s: got %v, want an error that names the ConfigMap", tc.reason, damaged)
			}

			if err := c.Get(t.Context(), client.ObjectKeyFromObject(broken), &corev1.ConfigMap{}); err != nil {
				t.Errorf("%s: it was not left alone: %v", tc.reason, err)
			}
		})
	}
}

func replace(what, by string) func(*corev1.ConfigMap) {
	return func(c *corev1.ConfigMap) { c.Data[keyReport] = strings.ReplaceAll(c.Data[keyReport], what, by) }
}

// No label can have such a value: it must not find everything.
func TestEntriesOfNoLabelValue(t *testing.T) {
	t.Parallel()

	o, _ := newOutbox()
	mustAdd(t, o, deleted("uid-alice", 0))

	if got := reportsOf(t, o, "not a label value"); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestEntriesFails(t *testing.T) {
	t.Parallel()

	_, c := newOutbox()
	failing := interceptor.NewClient(c, interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errInjected
		},
	})

	if _, _, err := NewOutbox(c, failing, outboxNamespace).Entries(t.Context(), "alice-id"); !errors.Is(err, errInjected) {
		t.Errorf("got %v: what cannot be read is not empty", err)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		err    error
		fails  bool
	}{
		"Replaced": {reason: "what has its name now is another's", err: kerrors.NewConflict(schema.GroupResource{}, "x", errInjected)},
		"Refused":  {reason: "it would be sent again", err: errInjected, fails: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			whole, c := newOutbox()
			mustAdd(t, whole, deleted("uid-alice", 0))

			refusing := interceptor.NewClient(c, interceptor.Funcs{
				Delete: func(_ context.Context, _ client.WithWatch, _ client.Object, opts ...client.DeleteOption) error {
					if (&client.DeleteOptions{}).ApplyOptions(opts).Preconditions.UID == nil {
						t.Error("it is deleted whatever its UID")
					}

					return tc.err
				},
			})

			o := NewOutbox(refusing, c, outboxNamespace)

			entries, _, err := o.Entries(t.Context(), "alice-id")
			if err != nil || len(entries) != 1 {
				t.Fatal(entries, err)
			}

			if err := o.Remove(t.Context(), entries[0]); (err != nil) != tc.fails || (tc.fails && !errors.Is(err, tc.err)) {
				t.Errorf("%s: got %v", tc.reason, err)
			}
		})
	}
}

func TestHolds(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason    string
		namespace string
		labels    map[string]string
		want      bool
	}{
		"Entry":          {reason: "a report in the namespace", namespace: outboxNamespace, labels: outboxLabels(), want: true},
		"OtherNamespace": {reason: "what a tenant of the cluster makes is not sent", namespace: "default", labels: outboxLabels()},
		"NoLabel":        {reason: "another ConfigMap", namespace: outboxNamespace},
		"OtherLabel":     {reason: "another report", namespace: outboxNamespace, labels: map[string]string{LabelReport: "active"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o, _ := newOutbox()
			c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: tc.namespace, Labels: tc.labels}}

			if got := o.Holds(c); got != tc.want {
				t.Errorf("%s: got %t, want %t", tc.reason, got, tc.want)
			}

			cached, ok := OutboxCache(outboxNamespace).Namespaces[tc.namespace]
			if in := ok && cached.LabelSelector.Matches(labels.Set(tc.labels)); in != tc.want {
				t.Errorf("%s: in the cache %t, want %t", tc.reason, in, tc.want)
			}
		})
	}
}
