// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// usage is what a provider holds and has done.
type usage struct {
	goroutines, descriptors, heap float64
	helm, downloads               float64
}

func (r *replica) usage(t *testing.T) usage {
	t.Helper()
	return usage{
		goroutines: r.metric(t, "go_goroutines "), descriptors: r.metric(t, "process_open_fds "),
		// What was in use after the last collection, times two.
		heap: r.metric(t, "go_memstats_next_gc_bytes ") / 2,
		helm: r.metric(t, "kubeopera_helm_actions_total"), downloads: r.metric(t, "kubeopera_chart_downloads_total"),
	}
}

// TestR2ThousandReconciles looks 1,000 times at one Ready Tenant, and holds that nothing
// is written, downloaded or done by Helm, and that the process holds no more than before.
func TestR2ThousandReconciles(t *testing.T) {
	t.Parallel()
	h := newHostCluster(t, "")
	h.configure(nil)
	way := newBetween(t, h.config)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, way.kubeconfig(t, h), 0o600); err != nil {
		t.Fatal(err)
	}
	r := startReplica(t, file, nil)

	tn := h.tenant("alice")
	h.comeUp("alice")
	h.await("alice", "it is Ready", time.Minute, ready)

	r.lookAgain(t, h, tn, 100) // What is kept between passes is there now.
	q := h.quotaOf(t, "alice").ResourceVersion
	before := r.usage(t)
	way.written()
	r.lookAgain(t, h, tn, 1000)

	if w := way.written(); len(w) > 0 {
		t.Errorf("%d writes, such as %v", len(w), w[:min(5, len(w))])
	}
	r.poll(t, 5)
	if w := way.written(); len(w) > 0 {
		t.Errorf("polls of what nobody touched made %d writes, such as %v", len(w), w[:min(5, len(w))])
	}
	if is := h.quotaOf(t, "alice").ResourceVersion; is != q {
		t.Errorf("the TenantQuota was written: version %s is %s now", q, is)
	}
	after := r.usage(t)
	t.Logf("before: %+v, after: %+v", before, after)
	if after.helm != before.helm || after.downloads != before.downloads {
		t.Errorf("%v actions of Helm and %v downloads", after.helm-before.helm, after.downloads-before.downloads)
	}
	if after.goroutines > before.goroutines+10 || after.descriptors > before.descriptors+5 || after.heap > before.heap*1.2 {
		t.Errorf("it holds more than before: %+v, and after 1,000 reconciles %+v", before, after)
	}
}

// quotaOf is the TenantQuota beside the Tenant.
func (h *hostCluster) quotaOf(t *testing.T, name string) *v1alpha1.TenantQuota {
	t.Helper()
	q := &v1alpha1.TenantQuota{}
	if err := h.Get(t.Context(), client.ObjectKey{Namespace: ownNamespace, Name: name}, q); err != nil {
		t.Fatal(err)
	}
	return q
}

const reconciled = `controller_runtime_reconcile_total{controller="managed/tenant.kubeopera.io"`

// poll waits until the Tenant was looked at so often by itself.
func (r *replica) poll(t *testing.T, times int) {
	t.Helper()
	for range times {
		r.awaitMetric(t, reconciled, r.metric(t, reconciled))
	}
}

// lookAgain has the Tenant reconciled so often, and holds that none of that changes it.
func (r *replica) lookAgain(t *testing.T, h *hostCluster, tn *v1alpha1.Tenant, times int) {
	t.Helper()
	for end, i := r.metric(t, reconciled)+float64(times), 0; r.metric(t, reconciled) < end; i++ {
		before := r.metric(t, reconciled)
		patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"annotations":{"test":"%d-%d"}}}`, times, i))
		if err := h.Patch(t.Context(), tn, patch); err != nil {
			t.Fatalf("Patch(...): %v", err)
		}
		patched := tn.ResourceVersion
		r.awaitMetric(t, reconciled, before)
		if err := h.Get(t.Context(), client.ObjectKeyFromObject(tn), tn); err != nil || tn.ResourceVersion != patched {
			t.Fatalf("a look changed the Tenant: %v, version %s is %s now", err, patched, tn.ResourceVersion)
		}
	}
}

// awaitMetric waits until it is more than before.
func (r *replica) awaitMetric(t *testing.T, begins string, before float64) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return r.metric(t, begins) > before, nil
	})
	if err != nil {
		t.Fatalf("%s stays at %v", begins, before)
	}
}
