// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"reflect"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// maxWritten is how many objects there are of which it is remembered what was written
// last. While the cache lags behind, the status of one that is forgotten may be taken for
// stored when it is not; the next poll mends it.
const maxWritten = 16384

// WithoutIdleWrites is mgr with a client that does not send a status that is stored
// already, nor the mark that a Create begins, see [Options]. The runtime writes a status at
// the end of each pass, whatever it was. A pass that begins before the cache has what the
// last one wrote reads the object itself: its own status would only meet a conflict, and
// wait for a backoff.
func WithoutIdleWrites(mgr manager.Manager) manager.Manager {
	return quietManager{Manager: mgr, client: quietClient{Client: mgr.GetClient(), live: mgr.GetAPIReader(), written: lru.New(maxWritten)}}
}

// quietManager has a quietClient.
type quietManager struct {
	manager.Manager

	client client.Client
}

func (m quietManager) GetClient() client.Client { return m.client }

// quietClient sends no status that is stored already, and no mark of a Create.
type quietClient struct {
	client.Client

	live client.Reader
	// written are the resource versions that the last write of a status left, by UID.
	written *lru.Cache
}

// Get reads an object from the cache, unless that lags behind.
func (c quietClient) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if err := c.Client.Get(ctx, key, o, opts...); err != nil || !c.isOld(o) {
		return err
	}

	return c.live.Get(ctx, key, o, opts...)
}

// isOld says that o is older than the last write of its status, or of no known age.
func (c quietClient) isOld(o client.Object) bool {
	last, ok := c.written.Get(o.GetUID())
	if !ok {
		return false
	}

	version, _ := last.(string) // Nothing else is kept.
	age, err := resourceversion.CompareResourceVersion(o.GetResourceVersion(), version)

	return err != nil || age < 0
}

// Update writes o, unless it is marked as one whose Create began: the runtime updates such
// an object for that mark only.
func (c quietClient) Update(ctx context.Context, o client.Object, opts ...client.UpdateOption) error {
	if meta.ExternalCreateIncomplete(o) {
		return nil
	}

	return c.Client.Update(ctx, o, opts...)
}

func (c quietClient) Status() client.SubResourceWriter {
	return quietStatus{SubResourceWriter: c.Client.Status(), client: c}
}

type quietStatus struct {
	client.SubResourceWriter

	client quietClient
}

// Update writes the status of o unless it is stored. One that is gone has none to write: a
// pass that began by a cache which still had it is no failure.
func (s quietStatus) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	if s.isStored(ctx, o) {
		return nil
	}

	err := s.SubResourceWriter.Update(ctx, o, opts...)

	switch {
	case isGone(err):
		return nil
	case kerrors.IsConflict(err):
		// Whoever was faster: what the cache has is too old until the next write.
		s.client.written.Add(o.GetUID(), "")
		meetConflict(ctx)
	case err == nil:
		s.client.written.Add(o.GetUID(), o.GetResourceVersion())
	}

	return err
}

// isGone says that there is no object of that name, whatever its UID: one of another UID
// answers with a conflict. What answers in an API server's stead says nothing.
func isGone(err error) bool {
	return kerrors.IsNotFound(err) && !kerrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// isStored says that o is as the cache has it, and that the cache has what was
// written last. An older o must meet its conflict, or its transition would be lost.
func (s quietStatus) isStored(ctx context.Context, o client.Object) bool {
	if s.client.isOld(o) {
		return false
	}

	have, ok := reflect.New(reflect.TypeOf(o).Elem()).Interface().(client.Object)
	if !ok || s.client.Client.Get(ctx, client.ObjectKeyFromObject(o), have, client.UnsafeDisableDeepCopy) != nil {
		return false // To write it says what is wrong.
	}

	// Only the outermost of have is its own. The cache sets the kind on whole copies only, and
	// what is only in hand, such as a name that goes with the finalizer, no status stores.
	have.GetObjectKind().SetGroupVersionKind(o.GetObjectKind().GroupVersionKind())
	have.SetAnnotations(o.GetAnnotations())

	return equality.Semantic.DeepEqual(have, o)
}
