// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"reflect"

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
// already. The runtime writes one at the end of each pass, whatever it was.
func WithoutIdleWrites(mgr manager.Manager) manager.Manager {
	return quietManager{Manager: mgr, client: quietClient{Client: mgr.GetClient(), written: lru.New(maxWritten)}}
}

// quietManager has a quietClient.
type quietManager struct {
	manager.Manager

	client client.Client
}

func (m quietManager) GetClient() client.Client { return m.client }

// quietClient sends no status that is stored already.
type quietClient struct {
	client.Client

	// written are the resource versions that the last write of a status left, by UID.
	written *lru.Cache
}

func (c quietClient) Status() client.SubResourceWriter {
	return quietStatus{SubResourceWriter: c.Client.Status(), cache: c.Client, written: c.written}
}

type quietStatus struct {
	client.SubResourceWriter

	cache   client.Reader
	written *lru.Cache
}

// Update writes the status of o unless it is stored. One that is gone has none to write: a
// pass that began by a cache which still had it is no failure.
func (s quietStatus) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	if s.isStored(ctx, o) {
		return nil
	}

	err := s.SubResourceWriter.Update(ctx, o, opts...)
	if isGone(err) {
		return nil
	}

	if err == nil {
		s.written.Add(o.GetUID(), o.GetResourceVersion())
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
	if last, ok := s.written.Get(o.GetUID()); ok {
		version, _ := last.(string) // Nothing else is kept.
		if age, err := resourceversion.CompareResourceVersion(o.GetResourceVersion(), version); err != nil || age < 0 {
			return false
		}
	}

	have, ok := reflect.New(reflect.TypeOf(o).Elem()).Interface().(client.Object)
	if !ok || s.cache.Get(ctx, client.ObjectKeyFromObject(o), have) != nil {
		return false // To write it says what is wrong.
	}

	return equality.Semantic.DeepEqual(have, o)
}
