// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/glance"
)

// createdDelay is how long after something was made it is worth to look again.
const createdDelay = 250 * time.Millisecond

// messageAbsent says that there is nothing that could be looked at or changed.
const messageAbsent = "nothing of it is inside the vCluster, and spec.managementPolicies do not allow to create it"

// messageKept says why a difference stays.
const messageKept = "it is not as the spec says, and spec.managementPolicies do not allow to change it"

// Facts are what one pass found out about what an object is to keep.
type Facts interface {
	// Exists says whether anything of it is there that is the owner's.
	Exists(o Owner) bool
	// Complete says that all of it is there, right or wrong.
	Complete() bool
	// Settled says that there is nothing to do but to wait.
	Settled() bool
}

// Handler does what is particular to a kind T. All calls into the vCluster have to
// be made with the context that is given, which bounds them.
type Handler[T resource.Managed, F Facts] interface {
	// Gather finds out all that there is to know, and changes nothing. An error
	// means that something is unknown or, with [ErrConflict], that the object must
	// keep its hands off.
	Gather(ctx context.Context, p Pass, mg T) (F, error)
	// Write makes what was seen missing, brings what was seen different to what is
	// wanted, and removes what is not wanted any more. It waits for nothing.
	Write(ctx context.Context, p Pass, mg T, seen F) error
	// Summarize writes what was seen into the kind's own part of the status, and
	// says where mg stands. Failed is why Write failed; nil if it did not, or was not
	// called.
	Summarize(p Pass, mg T, seen F, failed error) Summary
	// Unknown says where an object stands that could not be looked at. Was is its
	// condition Ready before the pass.
	Unknown(was xpv2.Condition, err error) Summary
	// Remains finds what is left of mg, which is being deleted, in the order in which
	// it is to go. An error means that it is not known.
	Remains(ctx context.Context, p Pass, mg T) ([]*unstructured.Unstructured, error)
	// MayBeLeft names, for people, what there may be when it is not known.
	MayBeLeft(mg T) []string
}

// connector makes the external client of one object for one pass.
type connector[T resource.Managed, F Facts] struct {
	Controller

	handler Handler[T, F]
}

// Connect finds the vCluster. It does without if a glance shows that nothing has changed.
func (c connector[T, F]) Connect(ctx context.Context, mg T) (managed.TypedExternalClient[T], error) {
	if found, ok := c.Looks.Same(ctx, mg); ok {
		return glance.Seen[T](found), nil
	}

	return &external[T, F]{Pass: c.begin(ctx, mg), handler: c.handler, wasReady: mg.GetCondition(xpv2.TypeReady)}, nil
}

// external is the client of one object for one pass. Create, Update and Delete act
// on what Observe saw in the same pass.
type external[T resource.Managed, F Facts] struct {
	Pass

	handler  Handler[T, F]
	wasReady xpv2.Condition
	seen     F
	left     []*unstructured.Unstructured
}

// Observe finds out what is there, writes it into the status and says what
// follows. It changes nothing inside the vCluster.
func (e *external[T, F]) Observe(ctx context.Context, mg T) (managed.ExternalObservation, error) {
	ctx, cancel := e.bounded(ctx)
	defer cancel()

	if meta.WasDeleted(mg) {
		return e.observeDeletion(ctx, mg)
	}

	// A status that is written in this pass may still be refused: it is no ground for a glance.
	stored := mg.DeepCopyObject()

	err := e.look(ctx, mg)
	if isWaiting(err) {
		// There is nothing to do but to wait.
		return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, nil
	}

	if err != nil {
		return managed.ExternalObservation{}, err
	}

	exists := e.exists(mg)
	if !exists && !e.May.Create {
		e.settle(mg, e.wasReady, Unavailable(messageAbsent))

		// Otherwise the runtime would update what does not exist.
		return managed.ExternalObservation{ResourceUpToDate: true}, nil
	}

	came := managed.ExternalObservation{ResourceExists: exists, ResourceUpToDate: e.seen.Settled()}
	if exists && came.ResourceUpToDate && mg.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue && equality.Semantic.DeepEqual(stored, mg) {
		e.Looks.Keep(mg, e.reads, came)
	}

	return came, nil
}

// exists says whether there is something that could be updated. Without leave to do
// so, what is missing of it must be created.
func (e *external[T, F]) exists(mg T) bool {
	if e.May.Create && !e.May.Update && !e.seen.Complete() && !e.seen.Settled() {
		return false
	}

	return e.seen.Exists(OwnerOf(mg, e.Tenant))
}

// look finds out what is there, and writes it into the status.
func (e *external[T, F]) look(ctx context.Context, mg T) error {
	seen, err := e.handler.Gather(ctx, e.Pass, mg)
	if err != nil {
		e.settle(mg, e.wasReady, e.handler.Unknown(e.wasReady, err))
		return err
	}

	e.seen = seen

	s := e.handler.Summarize(e.Pass, mg, seen, nil)
	if !seen.Settled() && !e.May.Allow(!seen.Complete()) {
		s = s.but(messageKept)
	}

	e.settle(mg, e.wasReady, s)

	return nil
}

// observeDeletion says that mg exists as long as anything is left of it, or could
// not be looked at, unless it may go all the same.
func (e *external[T, F]) observeDeletion(ctx context.Context, mg T) (managed.ExternalObservation, error) {
	left, err := e.handler.Remains(ctx, e.Pass, mg)

	gone, waitsFor := e.isGone(mg, left, err, e.handler.MayBeLeft(mg))
	if gone {
		return managed.ExternalObservation{}, nil
	}

	e.left = left
	e.settle(mg, e.wasReady, deleting(waitsFor))

	return managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}, err
}

// Create makes what is wanted, and has it looked at again soon: the runtime says
// Creating of it until then.
func (e *external[T, F]) Create(ctx context.Context, mg T) (managed.ExternalCreation, error) {
	ctx, cancel := e.bounded(ctx)
	defer cancel()

	err := e.write(ctx, mg)
	if err == nil {
		e.Waker.WakeAfter(client.ObjectKeyFromObject(mg), createdDelay)
	}

	return managed.ExternalCreation{}, err
}

// Update brings what is there to what is wanted, looks again and writes what came of it
// into the status. It waits for nothing.
func (e *external[T, F]) Update(ctx context.Context, mg T) (managed.ExternalUpdate, error) {
	ctx, cancel := e.bounded(ctx)
	defer cancel()

	if err := e.write(ctx, mg); err != nil {
		return managed.ExternalUpdate{}, err
	}

	return managed.ExternalUpdate{}, e.look(ctx, mg)
}

// write does what Observe saw to be done. The status says why it failed.
func (e *external[T, F]) write(ctx context.Context, mg T) error {
	err := e.handler.Write(ctx, e.Pass, mg, e.seen)
	if err != nil {
		e.settle(mg, e.wasReady, e.handler.Summarize(e.Pass, mg, e.seen, err))
	}

	return err
}

// Delete asks for the deletion of what is left.
func (e *external[T, F]) Delete(ctx context.Context, mg T) (managed.ExternalDelete, error) {
	ctx, cancel := e.bounded(ctx)
	defer cancel()

	err := e.Remove(ctx, e.left)
	if err != nil {
		e.settle(mg, e.wasReady, deleting(err.Error()))
	}

	return managed.ExternalDelete{}, err
}

// Disconnect does nothing: the clients serve other passes.
func (e *external[T, F]) Disconnect(context.Context) error { return nil }
