// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// readOfDNS is how the reads of a pass name that of CoreDNS.
const readOfDNS = "get Deployment " + vcluster.DNSDeployment

// setDNS makes CoreDNS available inside the vCluster, or not.
func (w *world) setDNS(available bool) {
	w.t.Helper()

	is := coreDNS()
	if available {
		is = is.Ready()
	}

	changeStatus(w, w.inner, vcluster.DNSNamespace, vcluster.DNSDeployment, func(d *appsv1.Deployment) { d.Status = is.Status })
}

// pendingDNS is a pod of CoreDNS that no node has room for.
func pendingDNS() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: vcluster.DNSNamespace, Name: "coredns-7d9c4b5f6-x8xz2", Labels: vcluster.DNSLabels()},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
}

// checkUnseenDNS holds what follows when CoreDNS cannot be looked at: it is said, and
// nothing else changes.
func checkUnseenDNS(t *testing.T, reason string, got *v1alpha1.Tenant, phase v1alpha1.TenantPhase, o managed.ExternalObservation, err error) {
	t.Helper()

	if c := got.GetCondition(v1alpha1.TypeDNSReady); err != nil || !o.ResourceExists || got.Status.Phase != phase ||
		!strings.Contains(c.Message, errInjected.Error()) || !strings.Contains(got.Status.Message, errInjected.Error()) {
		t.Errorf("%s: CoreDNS cannot be seen: %v, %s: %s; %s", reason, err, got.Status.Phase, got.Status.Message, c.Message)
	}
}

// TestQ3ReadyWaitsForCoreDNS holds that a Tenant of 2 CPU and 4Gi whose control plane
// fits and whose CoreDNS stays Pending is never Ready, says why in the host's words,
// is woken when that ends, and loses Ready with CoreDNS again.
func TestQ3ReadyWaitsForCoreDNS(t *testing.T) {
	t.Parallel()

	const refusal = `pods "coredns" is forbidden: exceeded quota: kubeopera-tenant`

	w, b := newWorld(t), alice()
	*b.Spec.Quota.CPU, *b.Spec.Quota.Memory = resource.MustParse("2"), resource.MustParse("4Gi")
	w.setDNS(false)
	w.mustPass(b.Obj())
	w.bringUp(b.Obj())
	w.addInside(pendingDNS())
	w.addInside(&corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: vcluster.DNSNamespace, Name: "refused"}, Type: corev1.EventTypeWarning, Message: refusal,
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", Name: pendingDNS().GetName()},
	})

	for range 240 { // An hour of polls.
		w.mustPass(b.Obj())
		w.clock.SetTime(w.clock.Now().Add(15 * time.Second))

		c := b.GetCondition(v1alpha1.TypeDNSReady)
		if b.Status.Phase == v1alpha1.PhaseReady || b.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue ||
			c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, refusal) || b.Status.Message != c.Message {
			t.Fatalf("CoreDNS is Pending, and the Tenant is %s: %s; %s", b.Status.Phase, b.Status.Message, c.Message)
		}
	}

	if !has[*corev1.Secret](w, w.kube, tenantNamespace, publishedName) || !w.dnsFollowed {
		t.Errorf("it holds back the kubeconfig, or is not watched: %t", w.dnsFollowed)
	}

	w.setDNS(true)

	if w.mustPass(b.Obj()); b.Status.Phase != v1alpha1.PhaseReady || w.dnsFollowed {
		t.Errorf("with CoreDNS: %s: %s; watched %t", b.Status.Phase, b.Status.Message, w.dnsFollowed)
	}

	w.setDNS(false)

	if w.mustPass(b.Obj()); b.Status.Phase != v1alpha1.PhaseInstallingFlux || !w.dnsFollowed {
		t.Errorf("without it again: %s: %s; watched %t", b.Status.Phase, b.Status.Message, w.dnsFollowed)
	}
}

// TestDNSStage holds what else can become of CoreDNS.
func TestDNSStage(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		tenant tenantBuilder
		change func(*world)
		want   xpv2.ConditionReason
		phase  v1alpha1.TenantPhase
		says   string
	}{
		"Available": {"it is available", alice(), func(*world) {}, v1alpha1.ReasonDone, v1alpha1.PhaseReady, ""},
		"Starting": {
			"nothing says why it is not", alice(), func(w *world) { w.setDNS(false) },
			v1alpha1.ReasonProgressing, v1alpha1.PhaseInstallingFlux, "0 of its pods are available",
		},
		"Absent": {
			"vCluster has not made it", alice(), func(w *world) { w.remove(w.inner, coreDNS().Obj()) },
			v1alpha1.ReasonProgressing, v1alpha1.PhaseInstallingFlux, "vCluster has not made it",
		},
		"Off": {
			"there is none", alice().Overrides(`{"controlPlane": {"coredns": {"enabled": false}}}`), func(w *world) { w.remove(w.inner, coreDNS().Obj()) },
			v1alpha1.ReasonSkipped, v1alpha1.PhaseReady, "by its values",
		},
		"Unseen": {
			"it cannot be looked at", alice(), func(w *world) { w.reads.failOn = readOfDNS },
			v1alpha1.ReasonProgressing, v1alpha1.PhaseInstallingFlux, errInjected.Error(),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), tc.tenant.Obj()

			w.mustPass(tn)

			if c := tn.GetCondition(v1alpha1.TypeDNSReady); tc.want != v1alpha1.ReasonSkipped && c.Reason != v1alpha1.ReasonWaiting {
				t.Errorf("%s: before there is a way in: %s: %s", tc.reason, c.Reason, c.Message)
			}

			w.bringUp(tn)
			tc.change(w)
			w.mustPass(tn)

			if c := tn.GetCondition(v1alpha1.TypeDNSReady); c.Reason != tc.want || tn.Status.Phase != tc.phase || !strings.Contains(c.Message, tc.says) {
				t.Errorf("%s: %s: %s; the Tenant is %s: %s", tc.reason, c.Reason, c.Message, tn.Status.Phase, tn.Status.Message)
			}
		})
	}
}
