// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package app

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

const (
	// asksEvery is how often a lease is asked for, at most: client-go adds up to 1.2 times
	// the period of 2 s that controller-runtime sets.
	asksEvery = 2 * time.Second * 22 / 10
	// leaseTime is how long nobody may lead. Who waits may have seen the lease as much late
	// as it asks, waits for the 15 s for which it holds, and asks again. The rest is
	// for a loaded machine.
	leaseTime = asksEvery + 15*time.Second + asksEvery + 10*time.Second
	// takeover is how long a new leader may take for what is left to do.
	takeover = 30 * time.Second
)

// TestR8LeaderKilled kills the leader of two replicas while one Tenant is Ready, one is
// half-way, and one has just changed. The other replica goes on within the time of the
// lease, finishes all of it, and does nothing twice.
func TestR8LeaderKilled(t *testing.T) {
	t.Parallel()
	h := newHostCluster(t, "")
	h.configure(nil)

	elected := func(c *Config) { c.LeaderElection = true }
	leader := startReplica(t, h.kubeconfig, elected)
	first := h.leader("")
	second := startReplica(t, h.kubeconfig, elected)

	h.tenant("ready")
	h.comeUp("ready")
	h.await("ready", "it is Ready", time.Minute, ready)
	h.tenant("half")
	h.await("half", "it is half-way", time.Minute, func(t *v1alpha1.Tenant) bool { return t.Status.Phase == v1alpha1.PhaseProvisioning })

	h.onlyLooks(second)
	before := h.written()

	leader.kill()
	died := time.Now()
	h.tenant("new")
	h.raise("ready", "7")

	if next := h.leader(first); next == first {
		t.Errorf("%q leads again", next)
	}
	if took := time.Since(died); took > leaseTime {
		t.Errorf("nobody led for %s, want %s at most", took, leaseTime)
	}

	h.await("ready", "its wall follows", takeover, func(tn *v1alpha1.Tenant) bool {
		q := tn.Status.Quota
		return ready(tn) && q != nil && q.Workloads.Name(corev1.ResourceLimitsCPU, resource.DecimalSI).String() == "7"
	})
	for _, name := range []string{"half", "new"} {
		h.comeUp(name)
		h.await(name, "it is Ready", takeover, ready)
	}

	after := h.written()
	for name := range before {
		if diff := cmp.Diff(before[name], after[name]); diff != "" {
			t.Errorf("%s was written again: -before, +after:\n%s", name, diff)
		}
	}
	h.expectOnce("ready", "half", "new")
}

// onlyLooks holds that a replica that does not lead does nothing on a host.
func (h *hostCluster) onlyLooks(r *replica) {
	h.t.Helper()
	for _, of := range []string{"kubeopera_helm_", `controller_runtime_reconcile_total{controller="managed/tenant`} {
		if n := r.metric(h.t, of); n != 0 {
			h.t.Errorf("a replica that does not lead counts %v of %s", n, of)
		}
	}
}

// leader waits until another than this holds the lease, and is its name.
func (h *hostCluster) leader(but string) string {
	h.t.Helper()
	lease := &coordinationv1.Lease{}
	eventually(h.t, "there is a leader", time.Minute, func(ctx context.Context) bool {
		err := h.Get(ctx, client.ObjectKey{Namespace: ownNamespace, Name: leaseName}, lease)
		return err == nil && !slices.Contains([]string{"", but}, ptr.Deref(lease.Spec.HolderIdentity, ""))
	})
	return *lease.Spec.HolderIdentity
}

func (h *hostCluster) raise(name, cpu string) {
	h.t.Helper()
	h.await(name, "it can be changed", 10*time.Second, func(t *v1alpha1.Tenant) bool {
		t.Spec.Quota.CPU = ptr.To(resource.MustParse(cpu))
		return h.Update(h.t.Context(), t) == nil
	})
}

// written are the Helm records on the host, with their versions.
func (h *hostCluster) written() map[string]string {
	h.t.Helper()
	l := &corev1.SecretList{}
	if err := h.List(h.t.Context(), l, client.MatchingLabels{"owner": "helm"}); err != nil {
		h.t.Fatalf("List(...): %v", err)
	}
	out := map[string]string{}
	for i := range l.Items {
		out[l.Items[i].Namespace+"/"+l.Items[i].Name] = l.Items[i].ResourceVersion
	}
	return out
}

// expectOnce holds that each Tenant has one revision, and that each of its phases was
// told once.
func (h *hostCluster) expectOnce(names ...string) {
	h.t.Helper()
	want, got := map[string]string{}, map[string]string{}
	for _, name := range names {
		want[vcluster.HostNamespace(name)+"/sh.helm.release.v1."+vcluster.ReleaseName(name)+".v1"] = ""
	}
	for name := range h.written() {
		got[name] = ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		h.t.Errorf("revisions: -want, +got:\n%s", diff)
	}

	l := &corev1.EventList{}
	if err := h.List(h.t.Context(), l, client.InNamespace(ownNamespace)); err != nil {
		h.t.Fatalf("List(...): %v", err)
	}
	told := map[string]int{}
	for _, e := range l.Items {
		if e.InvolvedObject.Kind == "Tenant" && slices.Contains([]string{"Provisioning", "Ready"}, e.Reason) {
			told[fmt.Sprintf("%s %s", e.InvolvedObject.Name, e.Reason)] += int(max(1, e.Count))
		}
	}
	for what, n := range told {
		if n != 1 {
			h.t.Errorf("%s was told %d times", what, n)
		}
	}
	if len(told) < len(names) {
		h.t.Errorf("told %v", told)
	}
}
