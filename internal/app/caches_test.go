// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// informers are those that are asked for.
type informers struct {
	cache.Informers
	asked []client.Object
	err   error
}

func (i *informers) GetInformer(_ context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	i.asked = append(i.asked, o)
	return nil, i.err
}

func TestFill(t *testing.T) {
	t.Parallel()
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	i := &informers{}
	if err := fill(t.Context(), i); err != nil {
		t.Fatalf("fill(...): %v", err)
	}
	want, got := map[schema.GroupVersionKind]bool{}, map[schema.GroupVersionKind]bool{}
	for gvk := range needed() {
		want[gvk] = true
	}
	for _, o := range i.asked {
		gvk, err := apiutil.GVKForObject(o, scheme)
		if err != nil {
			t.Fatal(err)
		}
		got[gvk] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("A replica that takes over need not wait for any kind of ours.\nfill(...): -want, +got:\n%s", diff)
	}
	if err := fill(t.Context(), &informers{err: errBoom}); !errors.Is(err, errBoom) {
		t.Errorf("A cache that cannot be filled is no full one.\nfill(...): want %v, got %v", errBoom, err)
	}
}
