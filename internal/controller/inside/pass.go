// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/glance"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// ReasonSkipped is the reason of the event that lists what was not removed.
const ReasonSkipped event.Reason = "CleanupSkipped"

// raceDelay is how long after a lost race it is worth to look again.
const raceDelay = time.Second

// goneDelay is how long after a look at what is left it is worth to look again:
// nothing tells that something inside a vCluster is gone. What is not gone soon is
// held by something, and is looked at as seldom as any failure.
const (
	goneDelay = time.Second
	goneSoon  = time.Minute
)

// Controller is what the passes of a controller share.
type Controller struct {
	// Kube is where the objects and their Tenants live. It reads Secrets not from a
	// cache.
	Kube client.Client
	// Live is the same past its cache.
	Live client.Reader
	// Metadata is the cache of that of Secrets which the provider made.
	Metadata client.Reader
	// Looks are the last at each object that was as it should be.
	Looks *glance.Memory
	// Open makes the clients for the vCluster of the Tenant of a UID.
	Open   func(tenant types.UID, k *vcluster.Kubeconfig) (*tenantapi.API, error)
	Record event.Recorder
	Clock  clock.PassiveClock
	Waker  *reconciler.Waker
}

// Pass is what one pass of one object begins with.
type Pass struct {
	Controller
	Target

	// May is what the management policies of the object allow.
	May reconciler.Policies

	// reads are what the pass reads.
	reads *glance.Look
	// unavailable says why the vCluster is not available; nil when it is.
	unavailable error
	until       time.Time
}

// begin finds the vCluster. That it is not available is no failure here: what
// follows from it depends on what is to be done.
func (c Controller) begin(ctx context.Context, mg resource.Managed) Pass {
	p := Pass{Controller: c, May: reconciler.PoliciesOf(mg), reads: &glance.Look{}}
	p.Kube = p.reads.OfManager(c.Kube, c.Metadata)
	p.Target, p.unavailable = p.target(ctx, mg)
	// Contexts know no clock but the real one.
	p.until = time.Now().Add(callTimeout(mg, p.Target, c.Clock.Now()))

	return p
}

// bounded limits the calls into the vCluster: all of a pass have to end at the
// same time.
func (p Pass) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadline(ctx, p.until)
}

// Owner makes mg the owner of objects inside the vCluster. The error says why that
// is not available.
func (p Pass) Owner(mg resource.Managed) (Owner, error) {
	if p.unavailable != nil {
		return Owner{}, p.unavailable
	}

	return OwnerOf(mg, p.Tenant), nil
}

// Write writes what was found missing or different, as far as it may. Who loses a
// race against another writer looks again soon; that is no error.
func (p Pass) Write(ctx context.Context, mg resource.Managed, found []Found) error {
	due := make([]Found, 0, len(found))

	for _, f := range found {
		if p.May.Allow(f.Live == nil) {
			due = append(due, f)
		}
	}

	err := write(ctx, p.Inside, due)
	if isRace(err) {
		p.Waker.WakeAfter(client.ObjectKeyFromObject(mg), raceDelay)
		return nil
	}

	return err
}

// Remove asks for the deletion of all of these, in their order.
func (p Pass) Remove(ctx context.Context, left []*unstructured.Unstructured) error {
	for _, o := range left {
		if err := remove(ctx, p.Inside, o); err != nil {
			return err
		}
	}

	return nil
}

// isGone says whether mg, which is being deleted, is gone from its vCluster, or may
// go all the same, which one event tells. If not, it says what it waits for.
// Unseen says why it could not be found out what is left. Could names what may be
// there in that case.
func (p Pass) isGone(mg resource.Managed, left []*unstructured.Unstructured, unseen error, could []string) (gone bool, waitsFor string) {
	if unseen == nil && len(left) == 0 {
		return true, ""
	}

	why, names := unseen, could
	if why == nil {
		why, names = errors.New(waitingFor(left)), shortNames(left)
	}

	now := p.Clock.Now()
	o := mayOrphan(mg, p.Target, why, now)

	if o.allowed {
		if o.because != "" {
			p.Record.Event(mg, event.Warning(ReasonSkipped, fmt.Errorf("%s; not removed: %s", o.because, strings.Join(names, ", "))))
		}

		return true, ""
	}

	if !o.again.IsZero() {
		p.Waker.WakeAfter(client.ObjectKeyFromObject(mg), o.again.Sub(now))
	}

	if unseen == nil && now.Sub(mg.GetDeletionTimestamp().Time) < goneSoon {
		p.Waker.WakeAfter(client.ObjectKeyFromObject(mg), goneDelay)
	}

	return false, why.Error()
}

// waitingFor says what a deletion waits for: the last that is to go.
func waitingFor(left []*unstructured.Unstructured) string {
	last := left[len(left)-1]

	if why := whyNamespaceStays(last); why != "" {
		return fmt.Sprintf("waiting for %s: %s", nameOf(last), why)
	}

	return "waiting for " + nameOf(last)
}

// shortNames name objects in a list of many.
func shortNames(objs []*unstructured.Unstructured) []string {
	out := make([]string, len(objs))

	for i, o := range objs {
		out[i] = o.GetKind() + " " + o.GetName()
		if ns := o.GetNamespace(); ns != "" {
			out[i] += " in " + ns
		}
	}

	return out
}
