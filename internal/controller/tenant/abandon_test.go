// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/report"
)

// abandonAs sets the annotation of the stored Tenant.
func (w *world) abandonAs(value string) {
	w.t.Helper()

	change(w, w.kube, aliceKey.Namespace, aliceKey.Name, func(tn *v1alpha1.Tenant) {
		meta.AddAnnotations(tn, map[string]string{v1alpha1.AnnotationAbandon: value})
	})
}

// TestD4SecretOfTheHostIsGone holds that a Tenant stays as long as its host cannot be
// reached, says so, and is let go by the annotation that names its namespace and by
// nothing else. The provider has just been started and remembers no host.
func TestD4SecretOfTheHostIsGone(t *testing.T) {
	t.Parallel()

	w := newWorld(t, alice().Deleted(epoch).Obj(), clusterConfig(fromSecret))
	r := w.reconcilerBy(connectTo(w, "http://127.0.0.1:1"))

	for _, at := range []time.Duration{0, stalledAfter - time.Second, stalledAfter, time.Hour} {
		w.clock.SetTime(epoch.Add(at))

		tn, _ := w.reconcile(r)
		if tn == nil || !meta.FinalizerExists(tn, managed.FinalizerName) || tn.Status.Phase != v1alpha1.PhaseDeleting {
			t.Fatalf("at %s it pretends to be deleted: %+v", at, tn)
		}

		c := tn.GetCondition(v1alpha1.TypeBoundaryReady)
		for _, want := range []string{"the host cluster is unreachable", `Secret "host" in namespace "` + tenantNamespace + `"`, v1alpha1.AnnotationAbandon, `"vcluster-alice-default"`} {
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

// TestAbandonedOnlyIfUnreachable holds that the annotation does nothing as long as the
// host answers, nor when it fails to do so just once, and that kubeopera-api is told
// what became of the CloudSpace.
func TestAbandonedOnlyIfUnreachable(t *testing.T) {
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
	hold[*corev1.Namespace](w, "vcluster-alice-default")
	w.abandonAs("vcluster-alice-default")

	for _, s := range []struct {
		reason string
		failOn string
		gone   bool
	}{
		{"the host answers", "", false},
		{"it fails once", "get Namespace vcluster-alice-default", false},
		{"it answers again", "", false},
		{"another failure", "helm get vc-alice-default", false},
		{"another failure, but not of the host", "get Secret " + publishedName, false},
		{"it fails", "helm get vc-alice-default", false},
		{"and again", "get Namespace vcluster-alice-default", true},
	} {
		w.reads.failOn = s.failOn

		stored, _ := w.reconcile(r)
		if (stored == nil) != s.gone || w.events.has(reasonAbandoned) != s.gone {
			t.Fatalf("%s: gone %t, events %v", s.reason, stored == nil, w.events.reasons())
		}
	}

	w.reads.failOn = ""

	want := []string{"the CloudSpace was given up with its host cluster, which is unreachable"}
	if len(kept) != 1 || cmp.Diff(want, []string{kept[0].Message}) != "" || kept[0].Status != v1alpha1.ReportDeleted {
		t.Errorf("told %+v", kept)
	}
}

// TestAbandonedIsToldOnce holds that one which is let go, and which something else
// holds, is not told of in each pass.
func TestAbandonedIsToldOnce(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Deleted(epoch).Obj()
	meta.AddAnnotations(tn, map[string]string{v1alpha1.AnnotationAbandon: "vcluster-alice-default"})

	w.reads.failOn = "get Namespace vcluster-alice-default"
	if _, err := w.pass(tn); err == nil {
		t.Fatal("the first failure lets go")
	}

	for range 3 {
		if o := w.mustPass(tn); o.ResourceExists {
			t.Errorf("it stays: %s", tn.Status.Message)
		}
	}

	if got := w.events.count(reasonAbandoned); got != 1 {
		t.Errorf("%d events, want one: %v", got, w.events.reasons())
	}
}
