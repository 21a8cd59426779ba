// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// add an object behind the back of the code.
func (w *world) add(o client.Object) {
	w.t.Helper()

	c := w.host
	if livesBesideTenants(o) {
		c = w.kube
	}

	if err := c.Create(context.Background(), o); err != nil {
		w.t.Fatal(err)
	}
}

// addInside adds an object inside the vCluster behind the back of the code, which
// leaves the journal as it is.
func (w *world) addInside(o client.Object) {
	w.t.Helper()

	done := w.journal.take()

	if err := w.inner.Create(context.Background(), o); err != nil {
		w.t.Fatal(err)
	}

	w.journal.set(done)
}

// change an object on the host behind the back of the code.
func change[T client.Object](w *world, c client.Client, namespace, name string, fn func(T)) {
	w.t.Helper()

	o := newOf[T]()
	if err := c.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
		w.t.Fatal(err)
	}

	fn(o)

	if err := c.Update(context.Background(), o); err != nil {
		w.t.Fatal(err)
	}

	w.journal.clear()
}

// changeStatus changes the status of an object behind the back of the code.
func changeStatus[T client.Object](w *world, c client.Client, namespace, name string, fn func(T)) {
	w.t.Helper()

	o := read[T](w, c, namespace, name)
	fn(o)

	if err := c.Status().Update(context.Background(), o); err != nil {
		w.t.Fatal(err)
	}
}

// has says whether an object exists.
func has[T client.Object](w *world, c client.Client, namespace, name string) bool {
	w.t.Helper()

	err := c.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, newOf[T]())
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}

	return err == nil
}

// read an object that must exist.
func read[T client.Object](w *world, c client.Client, namespace, name string) T {
	w.t.Helper()

	o := newOf[T]()
	if err := c.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
		w.t.Fatal(err)
	}

	return o
}

// remove an object behind the back of the code.
func (w *world) remove(c client.Client, o client.Object) {
	w.t.Helper()

	uid := o.GetUID()
	if err := c.Delete(context.Background(), o, client.Preconditions{UID: &uid}); err != nil {
		w.t.Fatal(err)
	}

	w.journal.clear()
}

func newOf[T client.Object]() T {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
}

func kindOf(o runtime.Object) string {
	gvk, _, err := testScheme().ObjectKinds(o)
	if err != nil {
		return fmt.Sprintf("%T", o)
	}

	return gvk[0].Kind
}

// testMapper knows the kinds that the tests leave in a namespace.
func testMapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion, appsv1.SchemeGroupVersion})
	m.Add(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Service"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("ServiceAccount"), meta.RESTScopeNamespace)
	m.Add(appsv1.SchemeGroupVersion.WithKind("StatefulSet"), meta.RESTScopeNamespace)
	m.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)

	return m
}
