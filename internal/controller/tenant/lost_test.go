// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// TestLost holds that a Tenant whose vCluster was adopted by another stops, with all
// who work inside by it, and tells nobody that the CloudSpace goes when it goes itself.
func TestLost(t *testing.T) {
	t.Parallel()

	tn := alice().Obj()
	w := newWorld(t, tn.DeepCopy())
	w.reports = true
	w.mustPass(tn)
	w.bringUp(tn)
	w.mustPass(tn)

	if tn.Status.Phase != v1alpha1.PhaseReady || tn.Status.Report == nil {
		t.Fatalf("%s: %s, reported %v", tn.Status.Phase, tn.Status.Message, tn.Status.Report)
	}

	w.remove(w.host, read[*corev1.Namespace](w, w.host, "", "vcluster-alice-default"))
	w.add(namespaceOf(alice().Named("other").UID("uid-elsewhere").Obj()).Obj())

	_, err := w.pass(tn)
	if api := tn.GetCondition(v1alpha1.TypeAPIReachable); !errors.Is(err, errConflict) || api.Status != corev1.ConditionFalse || api.Reason != v1alpha1.ReasonConflict {
		t.Errorf("who works inside goes on: %v, %+v", err, api)
	}

	gone := alice().Deleted(epoch).Obj()
	gone.Status = *tn.Status.DeepCopy()

	w.mustPass(gone)

	if gone.Status.Report != nil {
		t.Errorf("it tells of a CloudSpace that lives on: %v", gone.Status.Report)
	}
}

// TestLookAsked holds that what carries the mark of a Tenant that is not seen here is
// looked at only when that is asked for.
func TestLookAsked(t *testing.T) {
	t.Parallel()

	w := runsByHand(t)
	w.remove(w.host, bareNamespace("vcluster-alice-default").Obj())
	w.add(namespaceOf(alice().UID("uid-elsewhere").Obj()).Obj())
	w.journal.clear()

	o, err := w.pass(watcher().Obj())
	if !errors.Is(err, errConflict) || !strings.Contains(err.Error(), v1alpha1.AnnotationAdopt) || len(o.ConnectionDetails) > 0 || len(w.journal.take()) > 0 {
		t.Errorf("it is looked at: %+v, %v", o, err)
	}
}

// TestWithoutUpdateIsLeft holds that what runs is no creation that did not end, whatever
// became of its last upgrade.
func TestWithoutUpdateIsLeft(t *testing.T) {
	t.Parallel()

	for name, status := range map[string]helm.Status{"Failed": helm.StatusFailed, "Stale": helm.StatusPendingUpgrade} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().Policies(createOnly...).Obj()
			w.mustPass(tn)
			w.bringUp(tn)
			w.mustPass(tn)
			w.helm.release.Status, w.helm.release.Revision = status, 2
			w.clock.SetTime(epoch.Add(time.Hour))
			w.journal.clear()

			o := w.mustPass(tn)
			if got := w.journal.take(); !o.ResourceExists || slices.ContainsFunc(got, func(a string) bool { return strings.HasPrefix(a, "helm ") }) {
				t.Errorf("it is changed without Update: exists %t, %v", o.ResourceExists, got)
			}
		})
	}
}

// TestObserverHoldsNoID holds that who only looks keeps nobody from its cloudSpaceID.
func TestObserverHoldsNoID(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.add(alice().Named("looks").UID("uid-looks").Born(epoch.Add(-time.Hour)).Policies(xpv2.ManagementActionObserve).Obj())

	if o := w.mustPass(tn); o.ResourceExists || tn.Status.Phase == v1alpha1.PhaseFailed {
		t.Errorf("%s: %s", tn.Status.Phase, tn.Status.Message)
	}
}
