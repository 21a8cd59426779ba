// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
)

// TestChildNotInCacheYet holds that what the cache does not show yet is neither a
// failure nor a conflict: the Tenant's own, and that of others which names it.
func TestChildNotInCacheYet(t *testing.T) {
	t.Parallel()

	own := func(o client.Object) client.Object {
		yes := true
		o.SetOwnerReferences([]metav1.OwnerReference{{Kind: "Tenant", Name: "alice-default", UID: "uid-alice", Controller: &yes}})

		return o
	}

	cases := map[string]struct {
		reason string
		there  []client.Object
	}{
		"Own":    {"made a moment ago", []client.Object{own(agent("alice-default", "alice-default")), own(tenantQuota("alice-default", "alice-default"))}},
		"Others": {"someone made them a moment ago", []client.Object{agent("alice-default", "alice-default"), tenantQuota("alice-default", "alice-default")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().Advisor("advisor:v1").Obj()
			w.mustPass(tn)
			w.bringUp(tn)

			for _, o := range tc.there {
				w.add(o)
			}

			e := w.external(tn)
			e.kube = forgetfulCache{w.kube}

			if _, err := e.Observe(t.Context(), tn); err != nil {
				t.Fatal(err)
			}

			if _, err := e.Update(t.Context(), tn); err != nil || tn.Status.Phase != v1alpha1.PhaseInstallingFlux || len(w.failures.by) > 0 {
				t.Errorf("%s: %v, %s: %s", tc.reason, err, tn.Status.Phase, tn.Status.Message)
			}
		})
	}
}

// TestChildrenBeginWhole holds that the controllers of what a Tenant makes beside it have
// nothing to write before they begin.
func TestChildrenBeginWhole(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Advisor("advisor:v1").Obj()
	e := w.external(tn)

	for _, o := range []resource.Managed{e.agentOf(tn), e.quotaOf(tn)} {
		if !meta.FinalizerExists(o, managed.FinalizerName) || reconciler.Initialize(o, tn.GetName()) || o.GetLabels()[v1alpha1.LabelTenantUID] != string(tn.GetUID()) {
			t.Errorf("%s begins with %v, finalizers %v, labels %v", inside.KindOf(o), o.GetAnnotations(), o.GetFinalizers(), o.GetLabels())
		}
	}
}

// TestChildrenNeedNoSecondLook holds that a pass that only makes what is beside the Tenant
// looks at its vCluster once.
func TestChildrenNeedNoSecondLook(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Advisor("advisor:v1").Obj()
	w.idleChildren = true
	w.mustPass(tn)
	w.bringUp(tn)

	e := w.external(tn)
	if o, err := e.Observe(t.Context(), tn); err != nil || o.ResourceUpToDate {
		t.Fatalf("nothing is to be made: %+v, %v", o, err)
	}

	w.journal.clear()
	w.reads.fail(0)

	if _, err := e.Update(t.Context(), tn); err != nil || w.reads.count > 0 {
		t.Errorf("%d more reads, %v", w.reads.count, err)
	}

	if diff := cmp.Diff([]string{"kube create TenantQuota alice-default", createAgent}, w.journal.take()); diff != "" {
		t.Errorf("writes: -want, +got:\n%s", diff)
	}

	for _, ct := range []xpv2.ConditionType{v1alpha1.TypeQuotaApplied, v1alpha1.TypeAdvisorReady} {
		if c := tn.GetCondition(ct); c.Reason != v1alpha1.ReasonProgressing {
			t.Errorf("%s is %s: %s", ct, c.Reason, c.Message)
		}
	}
}

// TestChildVanishes holds that one that goes while it is created is no failure.
func TestChildVanishes(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t, agent("alice-default", "bob")), alice().Obj()
	e := w.external(tn)
	e.kubeLive = newWorld(t).kube

	if made, err := e.createChild(t.Context(), tn, e.agentOf(tn), &v1alpha1.AdvisorAgent{}); err != nil || made {
		t.Errorf("made: %t, %v", made, err)
	}

	e.kubeLive = w.kube
	w.reads.fail(1)

	if _, err := e.createChild(t.Context(), tn, e.agentOf(tn), &v1alpha1.AdvisorAgent{}); !errors.Is(err, errInjected) || !strings.Contains(err.Error(), `cannot read AdvisorAgent "alice-default"`) {
		t.Errorf("got %v", err)
	}
}
