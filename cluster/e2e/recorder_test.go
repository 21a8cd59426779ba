// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"strconv"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// change is one event of a watch.
type change struct {
	Type   watch.EventType
	Object client.Object
	// Revision of the cluster's store at that change. All kinds share one
	// sequence, so that revisions of different kinds compare.
	Revision uint64
	// Seen is when the change was seen here.
	Seen time.Time
}

// recorder keeps what a watch saw.
type recorder struct {
	mu      sync.Mutex
	changes []change
}

// record watches the host cluster until the spec ends.
func record(ctx context.Context, list client.ObjectList, opts ...client.ListOption) *recorder {
	GinkgoHelper()

	return recordIn(ctx, cluster.Client, list, opts...)
}

// recordIn watches a cluster until the spec ends.
func recordIn(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) *recorder {
	GinkgoHelper()

	w, err := c.Watch(ctx, list, opts...)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(w.Stop)

	r := &recorder{}
	go func() {
		for e := range w.ResultChan() {
			r.add(e)
		}
	}()

	return r
}

func (r *recorder) add(e watch.Event) {
	o, ok := e.Object.(client.Object)
	if !ok {
		return
	}

	revision, err := strconv.ParseUint(o.GetResourceVersion(), 10, 64)
	if err != nil {
		return
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	r.changes = append(r.changes, change{Type: e.Type, Object: o, Revision: revision, Seen: time.Now()})
}

func (r *recorder) all() []change {
	r.mu.Lock()
	defer r.mu.Unlock()

	return append([]change(nil), r.changes...)
}

// deletions are the last changes of the objects that went, by name.
func (r *recorder) deletions() map[string]change {
	out := map[string]change{}

	for _, c := range r.all() {
		if c.Type == watch.Deleted {
			out[c.Object.GetName()] = c
		}
	}

	return out
}

// phases are those that the watched Tenant passed, without repetitions.
func (r *recorder) phases() []v1alpha1.TenantPhase {
	var out []v1alpha1.TenantPhase

	for _, c := range r.all() {
		t, ok := c.Object.(*v1alpha1.Tenant)
		if !ok {
			continue
		}

		if p := t.Status.Phase; len(out) == 0 || out[len(out)-1] != p {
			out = append(out, p)
		}
	}

	return out
}
