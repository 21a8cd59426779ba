// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package glance

import (
	"context"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Cached is r, and remembers all of its reads, which are asked for each time: a cache
// answers them, or what they say must not wait.
func (l *Look) Cached(r client.Reader) client.Reader { return &cachedReader{look: l, Reader: r} }

// Live is c, all of whose reads its API server answers, and remembers them. What is in
// the cache of metadata, in the version that was read, is asked for there from then on;
// nil is no such cache.
func (l *Look) Live(c client.Client, metadata client.Reader) client.Client {
	return &reading{Client: c, reads: &liveReader{look: l, Client: c, metadata: metadata}}
}

// OfManager is the client of a manager, which reads Secrets at the API server and all
// else from its cache. All are asked for each time: few Secrets are not in the cache of
// metadata, for which see Live, and these give access.
func (l *Look) OfManager(c client.Client, metadata client.Reader) client.Client {
	return &reading{Client: c, reads: &managerReader{Reader: l.Cached(c), secrets: &liveReader{look: l, Client: c, metadata: metadata, each: true}}}
}

// reading is a client that reads in another way than it writes.
type reading struct {
	client.Client

	reads client.Reader
}

func (c *reading) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return c.reads.Get(ctx, key, o, opts...)
}

func (c *reading) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	return c.reads.List(ctx, l, opts...)
}

// managerReader gets Secrets, which are never listed, in another way than all else.
type managerReader struct {
	client.Reader

	secrets client.Reader
}

func (r *managerReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if _, ok := o.(*corev1.Secret); ok {
		return r.secrets.Get(ctx, key, o, opts...)
	}

	return r.Reader.Get(ctx, key, o, opts...)
}

type cachedReader struct {
	client.Reader

	look *Look
}

func (r *cachedReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	err := r.Reader.Get(ctx, key, o, opts...)
	version, failed := versionOf(o, err)
	empty := sameType(o)
	opts = append(opts, client.UnsafeDisableDeepCopy)

	r.look.remember(&r.look.each, version, failed, func(ctx context.Context) (string, error) {
		return getVersion(ctx, r.Reader, key, empty(), opts...)
	})

	return err
}

func (r *cachedReader) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	err := r.Reader.List(ctx, l, opts...)
	version, failed := versionOfAll(l, err)
	empty := sameType(l)
	opts = append(opts, client.UnsafeDisableDeepCopy)

	r.look.remember(&r.look.each, version, failed, func(ctx context.Context) (string, error) {
		return listVersion(ctx, r.Reader, empty(), opts...)
	})

	return err
}

type liveReader struct {
	client.Client

	look     *Look
	metadata client.Reader
	// each says that all is asked for at each glance.
	each bool
}

func (r *liveReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	err := r.Client.Get(ctx, key, o, opts...)
	version, failed := versionOf(o, err)

	gvk, unknown := r.GroupVersionKindFor(o)
	if failed == nil {
		failed = unknown
	}

	empty := func() *metav1.PartialObjectMetadata {
		m := &metav1.PartialObjectMetadata{}
		m.SetGroupVersionKind(gvk)

		return m
	}

	where, by := r.look.listOf(gvk), client.Reader(r.Client)
	if r.each {
		where = &r.look.each
	}

	if failed == nil && r.isCached(ctx, key, empty(), version) {
		where, by = &r.look.each, r.metadata
	}

	r.look.remember(where, version, failed, func(ctx context.Context) (string, error) {
		return getVersion(ctx, by, key, empty(), opts...)
	})

	return err
}

// isCached says that the cache of metadata has an object in that version.
func (r *liveReader) isCached(ctx context.Context, key client.ObjectKey, empty client.Object, version string) bool {
	if r.metadata == nil || version == absent {
		return false
	}

	cached, err := getVersion(ctx, r.metadata, key, empty)

	return err == nil && cached == version
}

func (r *liveReader) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	err := r.Client.List(ctx, l, opts...)
	version, failed := versionOfAll(l, err)

	gvk, unknown := r.GroupVersionKindFor(l)
	if failed == nil {
		failed = unknown
	}

	r.look.remember(r.look.listOf(gvk), version, failed, func(ctx context.Context) (string, error) {
		again := &metav1.PartialObjectMetadataList{}
		again.SetGroupVersionKind(gvk)

		return listVersion(ctx, r.Client, again, opts...)
	})

	return err
}

// listOf is where reads of the kind, or of lists of it, are remembered.
func (l *Look) listOf(gvk schema.GroupVersionKind) *[]question {
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	if gvk.GroupKind() == appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind() {
		return &l.running
	}

	return &l.rest
}

func getVersion(ctx context.Context, r client.Reader, key client.ObjectKey, into client.Object, opts ...client.GetOption) (string, error) {
	return versionOf(into, r.Get(ctx, key, into, opts...))
}

func listVersion(ctx context.Context, r client.Reader, into client.ObjectList, opts ...client.ListOption) (string, error) {
	return versionOfAll(into, r.List(ctx, into, opts...))
}

// sameType makes empty objects of the type and kind of o: a cache has one of its own for
// each type.
func sameType[T runtime.Object](o T) func() T {
	of, gvk := reflect.TypeOf(o).Elem(), o.GetObjectKind().GroupVersionKind()

	return func() T {
		empty, _ := reflect.New(of).Interface().(T)
		empty.GetObjectKind().SetGroupVersionKind(gvk)

		return empty
	}
}
