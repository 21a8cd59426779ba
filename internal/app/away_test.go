// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package app

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// TestR4HostInTrouble has the API of a host refuse writes, be slow, 2 s a call, and be
// away for a minute, with one Tenant that is Ready and one that is being made. What is
// there stays, the Ready one stays so, and all goes on by itself.
func TestR4HostInTrouble(t *testing.T) {
	t.Parallel()
	h := newHostCluster(t, "")
	way := newBetween(t, h.config)
	h.configure(way.kubeconfig(t, h))
	startReplica(t, h.kubeconfig, nil)
	h.tenant("old")
	h.comeUp("old")
	h.await("old", "it is Ready", time.Minute, ready)
	before := h.uids("old")

	cases := []struct {
		name, cpu string
		harm      func(http.ResponseWriter, *http.Request) bool
		lasts     time.Duration
		// says is what the Tenants say meanwhile, if they must be in trouble.
		says string
	}{
		{"writes", "5", readOnly, 5 * time.Second, "database space exceeded"},
		{"slow", "6", slow, 30 * time.Second, ""},
		{"away", "7", away, time.Minute, "cannot"},
	}
	for _, tc := range cases {
		way.set(tc.harm)
		end := time.Now().Add(tc.lasts)
		h.tenant(tc.name)
		h.raise("old", tc.cpu)

		if tc.says != "" {
			h.await(tc.name, "it says why it cannot be made", time.Minute, func(t *v1alpha1.Tenant) bool {
				return t.Status.Phase == v1alpha1.PhaseFailed && strings.Contains(t.Status.Message, tc.says)
			})
			h.await("old", "it says why it cannot change", time.Minute, func(t *v1alpha1.Tenant) bool { return strings.Contains(t.Status.Message, tc.says) })
		}
		h.staysReady("old", end)

		way.set(nil)
		// A failed attempt is followed by a minute at most.
		h.await("old", "its wall follows after "+tc.name, 2*time.Minute, func(tn *v1alpha1.Tenant) bool {
			q := tn.Status.Quota
			return ready(tn) && q != nil && q.Workloads.Name(corev1.ResourceLimitsCPU, resource.DecimalSI).String() == tc.cpu
		})
		h.comeUp(tc.name)
		h.await(tc.name, "it becomes Ready", 2*time.Minute, ready)
	}

	if diff := cmp.Diff(before, h.uids("old")); diff != "" {
		t.Errorf("something was made anew: -before, +after:\n%s", diff)
	}
}

// staysReady holds that a Tenant that runs is Ready until then.
func (h *hostCluster) staysReady(name string, end time.Time) {
	h.t.Helper()
	h.await(name, "it is looked at until the end", time.Until(end)+time.Minute, func(t *v1alpha1.Tenant) bool {
		if !ready(t) {
			h.t.Fatalf("%s: %s", t.Status.Phase, t.Status.Message)
		}
		return time.Now().After(end)
	})
}

// uids are the identities of what a Tenant has on the host, and its Helm revisions.
func (h *hostCluster) uids(name string) map[string]string {
	h.t.Helper()
	in := client.InNamespace(vcluster.HostNamespace(name))
	out := map[string]string{}

	ns, sets, records := &corev1.Namespace{}, &appsv1.StatefulSetList{}, &corev1.SecretList{}
	for _, err := range []error{
		h.Get(h.t.Context(), client.ObjectKey{Name: vcluster.HostNamespace(name)}, ns),
		h.List(h.t.Context(), sets, in), h.List(h.t.Context(), records, in, client.MatchingLabels{"owner": "helm"}),
	} {
		if err != nil {
			h.t.Fatal(err)
		}
	}
	out["namespace"] = string(ns.UID)
	for i := range sets.Items {
		out[sets.Items[i].Name] = string(sets.Items[i].UID)
	}
	for i := range records.Items {
		out[records.Items[i].Name] = string(records.Items[i].UID)
	}
	return out
}
