// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package insidetest has what tests of the controllers that work inside vClusters
// share: Tenants and a fake API of a vCluster.
package insidetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/applyconfigurations"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// converters are slow to make, and each dry run has a client of its own.
var converters = sync.OnceValue(func() []managedfields.TypeConverter {
	return []managedfields.TypeConverter{applyconfigurations.NewTypeConverter(Scheme()), managedfields.NewDeducedTypeConverter()}
})

// VCluster is a fake API of a vCluster. It compares by dry runs as an API server
// does, gives UIDs, and keeps namespaces that are being deleted.
type VCluster struct {
	client.WithWatch

	t *testing.T
	// store is the same without what is added to it here.
	store client.WithWatch

	mu     sync.Mutex
	writes []string
	uids   int
	fail   func(action string) error
	// watches is how many are open; changed is closed and renewed with each change.
	watches int
	changed chan struct{}
}

// NewVCluster has the given objects.
func NewVCluster(t *testing.T, objs ...client.Object) *VCluster {
	t.Helper()

	v := &VCluster{t: t, fail: func(string) error { return nil }, changed: make(chan struct{})}

	for i, o := range objs {
		if o.GetUID() == "" {
			o.SetUID(types.UID(fmt.Sprintf("uid-given-%d", i)))
		}
	}

	b := fake.NewClientBuilder().WithScheme(Scheme()).WithTypeConverters(converters()...).WithObjects(objs...).WithReturnManagedFields().
		WithStatusSubresource(&appsv1.Deployment{})

	for field, of := range map[string]func(*corev1.Event) string{
		"involvedObject.kind": func(e *corev1.Event) string { return e.InvolvedObject.Kind },
		"involvedObject.name": func(e *corev1.Event) string { return e.InvolvedObject.Name },
		"type":                func(e *corev1.Event) string { return e.Type },
	} {
		b.WithIndex(&corev1.Event{}, field, func(o client.Object) []string {
			e, ok := o.(*corev1.Event)
			if !ok {
				return nil
			}

			return []string{of(e)}
		})
	}

	v.store = b.Build()
	v.WithWatch = interceptor.NewClient(v.store, interceptor.Funcs{
		Get: v.get, List: v.list, Create: v.create, Apply: v.apply, Delete: v.delete, Watch: v.watch,
	})

	return v
}

// Fail fails, from now on, the calls for which fn returns an error. An action is
// such as "get Namespace app-advisor", "dry-run", "apply", "create", "delete" or
// "list" likewise.
func (v *VCluster) Fail(fn func(action string) error) {
	v.mu.Lock()
	defer v.mu.Unlock()

	v.fail = fn
}

// Slip makes an object in the middle of a call that [VCluster.Fail] watches, as
// another writer may, and returns nothing.
func (v *VCluster) Slip(o client.Object) error {
	if o.GetUID() == "" {
		v.uids++
		o.SetUID(types.UID(fmt.Sprintf("uid-slipped-%d", v.uids)))
	}

	return v.store.Create(context.Background(), o)
}

// Heal ends what Fail began.
func (v *VCluster) Heal() { v.Fail(func(string) error { return nil }) }

// Aside does something that is none of the actions.
func (v *VCluster) Aside(fn func()) {
	v.mu.Lock()
	fail, writes := v.fail, v.writes
	v.fail = func(string) error { return nil }
	v.mu.Unlock()

	fn()

	v.mu.Lock()
	defer v.mu.Unlock()

	v.fail, v.writes = fail, writes
}

// Writes are the actions since they were last asked for that changed something.
func (v *VCluster) Writes() []string {
	v.mu.Lock()
	defer v.mu.Unlock()

	out := v.writes
	v.writes = nil

	return out
}

// call notes an action, and says whether it is to fail.
func (v *VCluster) call(verb, kind, namespace, name string) error {
	action := strings.Join(slices.DeleteFunc([]string{verb, kind, namespace, name}, func(s string) bool { return s == "" }), " ")

	v.mu.Lock()
	defer v.mu.Unlock()

	if err := v.fail(action); err != nil {
		return err
	}

	if verb == "create" || verb == "apply" || verb == "delete" {
		v.writes = append(v.writes, action)
	}

	return nil
}

func (v *VCluster) newUID() types.UID {
	v.mu.Lock()
	defer v.mu.Unlock()

	v.uids++

	return types.UID(fmt.Sprintf("uid-%d", v.uids))
}

func (v *VCluster) get(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if err := v.call("get", kindOf(o), key.Namespace, key.Name); err != nil {
		return err
	}

	return c.Get(ctx, key, o, opts...)
}

func (v *VCluster) list(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
	if err := v.call("list", kindOf(l), "", ""); err != nil {
		return err
	}

	return c.List(ctx, l, opts...)
}

func (v *VCluster) create(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
	if err := v.call("create", kindOf(o), o.GetNamespace(), o.GetName()); err != nil {
		return err
	}

	if o.GetUID() == "" {
		o.SetUID(v.newUID())
	}

	return c.Create(ctx, o, opts...)
}

// delete holds deletions to a UID, and namespaces until [VCluster.EndNamespace].
func (v *VCluster) delete(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
	if err := v.call("delete", kindOf(o), o.GetNamespace(), o.GetName()); err != nil {
		return err
	}

	d := (&client.DeleteOptions{}).ApplyOptions(opts)
	if d.Preconditions == nil || d.Preconditions.UID == nil || *d.Preconditions.UID != o.GetUID() {
		v.t.Errorf("deletion of %s %q is not bound to its UID", kindOf(o), o.GetName())
	}

	if kindOf(o) == "Namespace" {
		ns := &corev1.Namespace{}
		if err := c.Get(ctx, client.ObjectKeyFromObject(o), ns); err != nil {
			return err
		}

		ns.SetFinalizers([]string{"kubernetes"})

		if err := c.Update(ctx, ns); err != nil {
			return err
		}
	}

	return c.Delete(ctx, o, opts...)
}

// watch counts the watches that are open.
func (v *VCluster) watch(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) (watch.Interface, error) {
	w, err := c.Watch(ctx, l, opts...)
	if err == nil {
		v.countWatch(1)
		context.AfterFunc(ctx, func() { v.countWatch(-1) })
	}

	return w, err
}

func (v *VCluster) countWatch(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()

	v.watches += n
	close(v.changed)
	v.changed = make(chan struct{})
}

// AwaitWatches waits until so many watches are open.
func (v *VCluster) AwaitWatches(n int) {
	v.t.Helper()

	for {
		v.mu.Lock()
		got, changed := v.watches, v.changed
		v.mu.Unlock()

		if got == n {
			return
		}

		select {
		case <-changed:
		case <-time.After(patience):
			v.t.Fatalf("%d watches are open, want %d", got, n)
		}
	}
}

// EndNamespace ends a namespace that is being deleted, with all that is in it.
func (v *VCluster) EndNamespace(name string) {
	v.t.Helper()

	for _, kind := range []string{"ServiceAccount", "Service", "ResourceQuota", "LimitRange", "Deployment"} {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind + "List"))

		if kind == "Deployment" {
			l.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind(kind + "List"))
		}

		v.must(v.List(context.Background(), l, client.InNamespace(name)))

		for i := range l.Items {
			uid := l.Items[i].GetUID()
			v.must(v.Delete(context.Background(), &l.Items[i], client.Preconditions{UID: &uid}))
		}
	}

	ns := &corev1.Namespace{}
	v.must(v.Get(context.Background(), client.ObjectKey{Name: name}, ns))
	ns.SetFinalizers(nil)
	v.must(v.Update(context.Background(), ns))
	v.Writes()
}

// apply does by itself what the fake client leaves out: dry runs, UIDs, and the
// version that is a condition.
func (v *VCluster) apply(ctx context.Context, c client.WithWatch, ac runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	o := &client.ApplyOptions{}
	o.ApplyOptions(opts)

	u, err := decode(ac)
	if err != nil {
		return err
	}

	verb := "apply"
	if slices.Contains(o.DryRun, metav1.DryRunAll) {
		verb = "dry-run"
	}

	if err := v.call(verb, u.GetKind(), u.GetNamespace(), u.GetName()); err != nil {
		return err
	}

	if o.FieldManager != "provider-kubeopera" || o.Force == nil || !*o.Force {
		v.t.Errorf("%s %s: field manager %q, force %v", verb, u.GetName(), o.FieldManager, o.Force)
	}

	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(u.GroupVersionKind())

	err = c.Get(ctx, client.ObjectKeyFromObject(u), live)
	if client.IgnoreNotFound(err) != nil {
		return err
	}

	if rv := u.GetResourceVersion(); rv != "" && rv != live.GetResourceVersion() {
		return conflict(u)
	}

	if verb == "dry-run" {
		b := fake.NewClientBuilder().WithScheme(Scheme()).WithTypeConverters(converters()...).WithReturnManagedFields()
		if err == nil {
			b.WithObjects(live)
		}

		return b.Build().Apply(ctx, ac, client.FieldOwner(o.FieldManager), client.ForceOwnership)
	}

	if err != nil {
		bare := &unstructured.Unstructured{}
		bare.SetGroupVersionKind(u.GroupVersionKind())
		bare.SetNamespace(u.GetNamespace())
		bare.SetName(u.GetName())
		bare.SetUID(v.newUID())

		if err := c.Create(ctx, bare, client.FieldOwner("registry")); err != nil {
			return err
		}
	}

	return c.Apply(ctx, ac, opts...)
}

func decode(ac runtime.ApplyConfiguration) (*unstructured.Unstructured, error) {
	raw, err := json.Marshal(ac)
	if err != nil {
		return nil, err
	}

	u := &unstructured.Unstructured{}

	return u, json.Unmarshal(raw, u)
}

func (v *VCluster) must(err error) {
	v.t.Helper()

	if err != nil {
		v.t.Fatal(err)
	}
}
