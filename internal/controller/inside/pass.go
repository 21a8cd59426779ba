// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
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
	// Kube is where the objects and their Tenants live.
	Kube   client.Reader
	Door   Door
	Record event.Recorder
	Clock  clock.PassiveClock
	Waker  *reconciler.Waker
}

// NewController makes it for the kind.
func NewController(mgr ctrl.Manager, k Kind, o controller.Options, pool *tenantapi.Pool) Controller {
	return Controller{
		Kube:   mgr.GetClient(),
		Door:   Door{Kube: mgr.GetClient(), Open: pool.Get},
		Record: k.recorder(mgr, o),
		Clock:  clock.RealClock{},
		Waker:  &reconciler.Waker{},
	}
}

// Pass is what one pass of one object begins with.
type Pass struct {
	Controller

	Way Way
	// NoWay says why there is no way into the vCluster; nil when there is one.
	NoWay error

	until time.Time
}

// Begin finds the way into the vCluster. That there is none is no failure here:
// what follows from it depends on what is to be done.
func (c Controller) Begin(ctx context.Context, mg resource.Managed) Pass {
	p := Pass{Controller: c}
	p.Way, p.NoWay = c.Door.Find(ctx, mg)
	p.until = time.Now().Add(callTimeout(mg, p.Way, c.Clock.Now()))

	return p
}

// Bounded limits the calls into the vCluster: all of a pass have to end at the
// same time.
func (p Pass) Bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadline(ctx, p.until)
}

// Write writes what was found missing or different. Who loses a race against
// another writer looks again soon; that is no error.
func (p Pass) Write(ctx context.Context, mg resource.Managed, found []Found) error {
	ctx, cancel := p.Bounded(ctx)
	defer cancel()

	err := Write(ctx, p.Way.API.Live, found)
	if isRace(err) {
		p.Waker.WakeAfter(client.ObjectKeyFromObject(mg), raceDelay)
		return nil
	}

	return err
}

// Depart says whether mg, which is being deleted, is gone from its vCluster, or may
// go all the same, which one event tells. If not, it says what it waits for.
// Unseen says why it could not be found out what is left. Could names what may be
// there in that case.
func (p Pass) Depart(mg resource.Managed, left []*unstructured.Unstructured, unseen error, could []string) (gone bool, waitsFor string) {
	if unseen == nil && len(left) == 0 {
		return true, ""
	}

	why, names := unseen, could
	if why == nil {
		why, names = errors.New(describe(left)), short(left)
	}

	now := p.Clock.Now()
	l := askLeave(mg, p.Way, why, now)

	if l.granted {
		if l.because != "" {
			p.Record.Event(mg, event.Warning(ReasonSkipped, fmt.Errorf("%s; not removed: %s", l.because, strings.Join(names, ", "))))
		}

		return true, ""
	}

	if !l.again.IsZero() {
		p.Waker.WakeAfter(client.ObjectKeyFromObject(mg), l.again.Sub(now))
	}

	if unseen == nil && now.Sub(mg.GetDeletionTimestamp().Time) < goneSoon {
		p.Waker.WakeAfter(client.ObjectKeyFromObject(mg), goneDelay)
	}

	return false, why.Error()
}

// Remove asks for the deletion of all of these, in their order.
func (p Pass) Remove(ctx context.Context, left []*unstructured.Unstructured) error {
	ctx, cancel := p.Bounded(ctx)
	defer cancel()

	for _, o := range left {
		if err := Remove(ctx, p.Way.API.Live, o); err != nil {
			return err
		}
	}

	return nil
}

// describe says what a deletion waits for: the last that is to go.
func describe(left []*unstructured.Unstructured) string {
	last := left[len(left)-1]

	if why := whyNamespaceStays(last); why != "" {
		return fmt.Sprintf("waiting for %s: %s", Name(last), why)
	}

	return "waiting for " + Name(last)
}

func short(objs []*unstructured.Unstructured) []string {
	out := make([]string, len(objs))

	for i, o := range objs {
		out[i] = o.GetKind() + " " + o.GetName()
		if ns := o.GetNamespace(); ns != "" {
			out[i] += " in " + ns
		}
	}

	return out
}
