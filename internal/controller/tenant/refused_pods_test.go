// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// refused is the event that a workload gets whose pod a quota refuses.
func refused(namespace, kind, name, text string) *corev1.Event {
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "refused", UID: "uid-refused"}, Type: corev1.EventTypeWarning, Reason: "FailedCreate",
		InvolvedObject: corev1.ObjectReference{Kind: kind, Name: name}, Message: text,
	}
}

// TestQ2QuotaRefusesAPod holds that the first pass after a quota refused a pod of the
// platform says so in the words of the event, in the stage of that pod.
func TestQ2QuotaRefusesAPod(t *testing.T) {
	t.Parallel()

	const text = `create Pod failed error: pods "x" is forbidden: exceeded quota: kubeopera-tenant, requested: limits.cpu=2, used: limits.cpu=4, limited: limits.cpu=5`

	n := namesOf(alice().Obj())
	cases := map[string]struct {
		reason string
		refuse func(*world)
		stage  xpv2.ConditionType
	}{
		"ControlPlane": {"the vCluster's own", func(w *world) {
			w.remove(w.host, controlPlane(n).Obj())
			w.add(controlPlane(n).Obj())
			w.add(refused(n.namespace, "StatefulSet", n.release, text))
		}, v1alpha1.TypeAPIReachable},
		"CoreDNS": {"that of its DNS", func(w *world) {
			w.setDNS(false)
			w.addInside(refused(vcluster.DNSNamespace, "Deployment", vcluster.DNSDeployment, text))
		}, v1alpha1.TypeDNSReady},
		"Flux": {"one of Flux", func(w *world) {
			w.addInside(refused(flux.Namespace, "Deployment", "source-controller", text))
		}, v1alpha1.TypeFluxReady},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().WithFlux("").Obj()
			w.idleFlux = name == "Flux"
			w.mustPass(tn)
			w.bringUp(tn)
			w.mustPass(tn)
			tc.refuse(w)
			w.mustPass(tn)

			c := tn.GetCondition(tc.stage)
			if c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, text) || !strings.Contains(tn.Status.Message, text) ||
				tn.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
				t.Errorf("%s: %s: %s; the Tenant is %s: %s", tc.reason, c.Status, c.Message, tn.Status.Phase, tn.Status.Message)
			}
		})
	}
}
